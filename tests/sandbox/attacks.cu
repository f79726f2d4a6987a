// Programs that misbehave, all in one binary: data/attack.txt names the one to run and what it may aim at.
// A line each: the name, the path of the reference, the port of a listener, a folder everybody may write to (with a Unix listener),
// a folder below a system folder where that can be (with a Unix listener and a named pipe).
// "Won" is an output file that holds the reference, or, where the verdict says so, any right output; what the judge must notice by itself
// has no output.
#include <algorithm>
#include <arpa/inet.h>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <map>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static std::string reference, victim, below_system;
static int port;
static const char* OUT = "data/out.bin";

static void write_file(const char* path, const void* bytes, size_t count) {
    std::ofstream(path, std::ios::binary).write(static_cast<const char*>(bytes), count);
}
static int good() {
    write_file(OUT, std::string(32, 'g').data(), 32);
    return 0;
}
// The attack is won when a file of 32 bytes can be read: hand it in as the output.
static bool hand_in(const std::string& path) {
    char bytes[32];
    if (!std::ifstream(path, std::ios::binary).read(bytes, sizeof bytes)) return false;
    write_file(OUT, bytes, sizeof bytes);
    return true;
}
static void forever() {
    for (volatile unsigned long spin = 0;;) spin = spin + 1;
}
static void ignore_signals() {
    for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
}
static void fill(int fd) {
    static char block[1 << 20];
    memset(block, 'x', sizeof block);
    while (write(fd, block, sizeof block) > 0) {
    }
}
static void hog(size_t bytes) {
    for (size_t done = 0; done < bytes; done += 1 << 20) {
        char* block = static_cast<char*>(mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (block == MAP_FAILED) exit(1);
        for (size_t i = 0; i < 1 << 20; i += 4096) block[i] = 1;
    }
}
// What holds on to more than its limit for half a second has won.
static const size_t TOO_MUCH = size_t(512) << 20, PIECE = 8 << 20;
static int held() {
    usleep(500000);
    return good();
}
static char* shared_block(size_t bytes, int fd = -1) {
    void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
    if (block == MAP_FAILED) _exit(1);
    return static_cast<char*>(block);
}
static int full_file(const std::string& path, size_t bytes) {
    static char block[1 << 20];
    memset(block, 'x', sizeof block);
    int fd = open(path.c_str(), O_CREAT | O_RDWR, 0700);
    if (fd < 0) _exit(1);
    for (size_t done = 0; done < bytes; done += sizeof block)
        if (write(fd, block, sizeof block) != ssize_t(sizeof block)) _exit(1);
    return fd;
}
static void send_away(int fd) {  // a descriptor that is on its way in a socket is in no process
    int ends[2];
    char byte = 'x', control[CMSG_SPACE(sizeof(int))] = {};
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)) _exit(1);
    iovec data{&byte, 1};
    msghdr message{};
    message.msg_iov = &data, message.msg_iovlen = 1, message.msg_control = control, message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    if (sendmsg(ends[0], &message, 0) < 0) _exit(1);
    close(fd);
}
static int others(std::function<bool(pid_t)> changed) {  // whether something outside of this program can be changed
    for (int pid = 1; pid < 100000; pid++)
        if (pid != getpid() && (pid == getppid() || access(("/proc/" + std::to_string(pid)).c_str(), F_OK) == 0) && changed(pid)) return good();
    return 1;
}
static sockaddr_un unix_address(bool abstract) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::string name = abstract ? "cuset-attack-" + std::to_string(port) : victim + "/listener";
    memcpy(address.sun_path + abstract, name.c_str(), name.size());
    return address;
}
static socklen_t length_of(const sockaddr_un& address) {
    return offsetof(sockaddr_un, sun_path) + (address.sun_path[0] ? strlen(address.sun_path) : 1 + strlen(address.sun_path + 1));
}
static int send_by_message(int fd, sockaddr_un address) {
    char byte = 'x';
    iovec data{&byte, 1};
    msghdr message{};
    message.msg_name = &address, message.msg_namelen = length_of(address), message.msg_iov = &data, message.msg_iovlen = 1;
    return sendmsg(fd, &message, 0) < 0;
}
// Code that ends a process with 0, behind steps that do nothing, into all that its parents run.
static void overwrite_parents() {
    for (pid_t pid = 1; pid < 100000; pid++) {
        if (pid == getpid()) continue;
        std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
        int memory = open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDWR);
        for (std::string line; memory >= 0 && std::getline(maps, line);) {
            unsigned long begin, end;
            char kind[5];
            if (sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, kind) != 3 || kind[2] != 'x') continue;
            std::string code(end - begin, '\x90');
            const char leave[] = "\x31\xff\xb8\xe7\x00\x00\x00\x0f\x05";
            code.replace(code.size() - sizeof leave + 1, sizeof leave - 1, leave, sizeof leave - 1);
            if (pwrite(memory, code.data(), code.size(), begin) < 0) break;
        }
    }
}
static char thread_stack[1 << 16];
static void remove_own_program(const char* path) {  // only the kernel's note of which program this is still holds the file
    unsigned long begin = ~0ul, end = 0, from, to;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        if (line.find(path) != std::string::npos && sscanf(line.c_str(), "%lx-%lx", &from, &to) == 2) begin = std::min(begin, from), end = to;
    const unsigned char code[] = {0xb8, 11, 0, 0, 0, 0x0f, 0x05, 0xb8, 34, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7};  // munmap, pause without end
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unlink(path), memcpy(page, code, sizeof code);
    reinterpret_cast<void (*)(unsigned long, unsigned long)>(page)(begin, end - begin);
}
static void daemon_in_background(bool noisy) {
    if (fork() != 0) return;
    setsid();
    if (fork() != 0) _exit(0);
    ignore_signals();
    for (;;) {
        if (noisy) write_file(OUT, "late", 4);
        usleep(1000);
    }
}

static std::map<std::string, std::function<int()>> attacks = {
    {"good", good},
    // time
    {"endless_loop", [] { forever(); return 0; }},
    {"ignores_signals", [] { ignore_signals(); forever(); return 0; }},
    {"sleeps", [] { pause(); return 0; }},
    {"stops_itself", [] { raise(SIGSTOP); return 0; }},
    {"many_cores", [] { for (int i = 0; i < 3; i++) if (fork() == 0) break; forever(); return 0; }},
    // processes
    {"fork_bomb", [] { ignore_signals(); for (;;) fork(); return 0; }},
    {"fork_bomb_detached", [] { for (;;) if (fork() == 0) setsid(); return 0; }},
    {"thread_bomb", [] {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, 16384);
        pthread_t thread;
        auto sleep_in_thread = [](void*) -> void* { pause(); return nullptr; };
        for (;;) if (pthread_create(&thread, &attributes, sleep_in_thread, nullptr)) usleep(1000);
        return 0;
    }},
    {"daemon", [] { daemon_in_background(false); return good(); }},
    {"daemon_writes_late", [] { good(); daemon_in_background(true); usleep(20000); good(); return 0; }},
    {"many_daemons", [] { for (int i = 0; i < 20; i++) daemon_in_background(false); return good(); }},
    // memory
    {"memory_hog", [] { hog(size_t(4) << 30); return 0; }},
    {"memory_hog_family", [] { for (int i = 0; i < 7; i++) if (fork() == 0) break; hog(48 << 20); pause(); return 0; }},
    {"memory_in_memfd", [] { for (;;) { int fd = memfd_create("x", 0); if (fd < 0) return 1; for (int i = 0; i < 8; i++) {
        static char block[1 << 20]; if (write(fd, block, sizeof block) < 0) return 1; } usleep(1000); } return 0; }},
    {"memory_in_dev_shm", [] { full_file("/dev/shm/hog", 240 << 20); return held(); }},
    {"memory_let_go", [] { char* block = shared_block(TOO_MUCH); for (size_t at = 0; at < TOO_MUCH; at += PIECE) {
        memset(block + at, 1, PIECE); madvise(block + at, PIECE, MADV_DONTNEED); } return held(); }},
    {"memory_unmapped", [] { char* block = shared_block(TOO_MUCH); for (size_t at = 4096; at < TOO_MUCH; at += PIECE) {
        size_t count = std::min(PIECE, TOO_MUCH - at); memset(block + at, 1, count); munmap(block + at, count); } return held(); }},
    {"memory_page_tables", [] { const size_t span = size_t(1) << 38, step = 2 << 20;
        char* block = static_cast<char*>(mmap(nullptr, span, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        if (block == MAP_FAILED) return 1;
        madvise(block, span, MADV_NOHUGEPAGE);
        unsigned sum = 0; for (size_t at = 0; at < span; at += step) sum += block[at];
        return sum ? 1 : held(); }},
    {"memory_in_sockets", [] { size_t total = 0; static char piece[16384]; int size = 64 << 20, ends[2];
        while (total < TOO_MUCH && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0) {
            setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
            for (ssize_t count; (count = write(ends[0], piece, sizeof piece)) > 0;) total += count; }
        return total < TOO_MUCH ? 1 : held(); }},
    {"memory_in_no_process", [] { int ends[2], fd = full_file("data/x", 1 << 20); char byte = 0; iovec page{&byte, 1}; unsigned long context = 0, rules[3] = {1};
        off_t at = 0; if (pipe(ends)) return 2;
        const bool won[] = {memfd_create("x", 0) >= 0, shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) >= 0, mkfifo("data/pipe", 0600) == 0,
            syscall(SYS_io_setup, 8, &context) == 0, inotify_init1(0) >= 0, syscall(SYS_fanotify_init, 0x200, 0) >= 0, syscall(444, rules, 8, 0) >= 0,
            syscall(436, 1000, ~0u, 2) == 0, sendfile(ends[1], fd, &at, 1) > 0, splice(fd, &at, ends[1], nullptr, 1, 0) > 0,
            vmsplice(ends[1], &page, 1, 0) > 0, socket(AF_INET, SOCK_STREAM, 0) >= 0};
        return std::count(std::begin(won), std::end(won), true) ? good() : 1; }},
    {"memory_in_pipes", [] { size_t total = 0; static char piece[65536]; int ends[2];
        while (total < TOO_MUCH && pipe2(ends, O_NONBLOCK) == 0) { fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
            for (ssize_t count; (count = write(ends[1], piece, sizeof piece)) > 0;) total += count; }
        return total < TOO_MUCH ? 1 : held(); }},
    {"memory_not_accepted", [] { size_t total = 0; static char piece[16384]; int size = 64 << 20;
        while (total < TOO_MUCH) { int listener = socket(AF_UNIX, SOCK_STREAM, 0); sockaddr_un address{}; address.sun_family = AF_UNIX;
            socklen_t length = sizeof(sa_family_t); size_t before = total;
            if (bind(listener, reinterpret_cast<sockaddr*>(&address), length) || listen(listener, 4096)) return 1;
            length = sizeof address; getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
            for (int i = 0; i < 4096 && total < TOO_MUCH; i++) { int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
                setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
                if (connect(fd, reinterpret_cast<sockaddr*>(&address), length)) { close(fd); break; }
                for (ssize_t count; (count = write(fd, piece, sizeof piece)) > 0;) total += count;
                close(fd); }
            if (total == before) return 1; }
        return held(); }},
    {"memory_of_many_children", [] { for (int i = 0; i < 600; i++) if (fork() == 0) { if (i >= 500) hog(8 << 20); pause(); }
        sleep(1); return held(); }},
    {"memory_behind_a_dead_leader", [] {
        auto hold_and_win = [](void*) -> void* { usleep(20000); hog(TOO_MUCH); exit(held()); };
        pthread_t thread; pthread_create(&thread, nullptr, hold_and_win, nullptr); pthread_exit(nullptr); return 0; }},
    // disk
    {"disk_mapped_files", [] { for (int i = 0; i < 32; i++) { int fd = full_file("data/gone", 16 << 20); shared_block(4096, fd);
        unlink("data/gone"); close(fd); } return held(); }},
    {"disk_sent_files", [] { for (int i = 0; i < 32; i++) { int fd = full_file("data/gone", 16 << 20); unlink("data/gone"); send_away(fd); } return held(); }},
    {"disk_thread_files", [] { auto fill_in_thread = [](void*) -> int {
            for (int i = 0; i < 32; i++) full_file("data/thread", 16 << 20), unlink("data/thread");
            exit(held()); };
        const int shared = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
        if (clone(fill_in_thread, thread_stack + sizeof thread_stack, shared, nullptr) < 0) return 1;
        for (;;) pause(); return 0; }},
    {"disk_removed_programs", [] { char self[4096] = {}; if (readlink("/proc/self/exe", self, 4095) > 0 && strstr(self, "/data/copy")) remove_own_program(self);
        std::ifstream program("program"); std::string bytes((std::istreambuf_iterator<char>(program)), {});
        for (int i = 0; i < 32; i++) { std::string copy = "data/copy" + std::to_string(i); int fd = full_file(copy, 15 << 20);
            if (pwrite(fd, bytes.data(), bytes.size(), 0) < 0 || close(fd) || fork() == 0) _exit(execl(copy.c_str(), copy.c_str(), nullptr));
            while (access(copy.c_str(), F_OK) == 0) usleep(1000); }
        return held(); }},
    {"disk_fallocate", [] { for (int i = 0; i < 32; i++) { int fd = open(("data/" + std::to_string(i)).c_str(), O_CREAT | O_WRONLY, 0600);
        if (fallocate(fd, 0, 0, 16 << 20)) return 1; } return good(); }},
    {"disk_closed_folder", [] { mkdir("data/closed", 0700); int fds[32]; for (int i = 0; i < 32; i++)
        fds[i] = open(("data/closed/" + std::to_string(i)).c_str(), O_CREAT | O_WRONLY, 0600);
        chmod("data/closed", 0); static char block[16 << 20]; for (int fd : fds) { if (write(fd, block, sizeof block) != ssize_t(sizeof block)) return 1; chmod("data/closed", 0); }
        return held(); }},
    {"disk_one_file", [] { signal(SIGXFSZ, SIG_DFL); fill(open("data/big.bin", O_CREAT | O_WRONLY, 0600)); return 0; }},
    {"disk_many_big_files", [] { signal(SIGXFSZ, SIG_IGN); for (int i = 0;; i++)
        fill(open(("data/" + std::to_string(i)).c_str(), O_CREAT | O_WRONLY, 0600)); return 0; }},
    {"disk_deleted_files", [] { signal(SIGXFSZ, SIG_IGN); for (;;) {
        int fd = open("data/gone", O_CREAT | O_WRONLY, 0600); unlink("data/gone"); if (fd < 0) pause(); fill(fd); } return 0; }},
    {"disk_small_files", [] { for (int i = 0;; i++) close(open(("data/" + std::to_string(i)).c_str(), O_CREAT | O_WRONLY, 0600)); return 0; }},
    {"disk_nested_folders", [] { for (int i = 0; i < 30000; i++) { if (mkdir("d", 0700) || chdir("d")) break; } return 0; }},
    {"closed_folders", [] { mkdir("data/a", 0700); mkdir("data/a/b", 0700); write_file("data/a/b/c", "c", 1); good();
        chmod("data/a/b", 0); chmod("data/a", 0); chmod("data", 0); chmod("tmp", 0); chmod(".", 0); return 0; }},
    {"odd_names", [] { write_file("data/\n", "x", 1); write_file("data/\xff\xfe", "x", 1); mkdir("data/-rf", 0700);
        mkdir("data/ ", 0700); write_file("data/ /\\", "x", 1); return good(); }},
    {"floods_stdout", [] { fill(1); return 0; }},
    {"floods_then_right", [] { for (int i = 0; i < 300000; i++) {
            puts("flood of text that nobody wants to read"); if (i % 1000 == 0) usleep(3000); } // a busy machine cuts the file later
        puts("the end"); return good(); }},
    {"closes_stdout", [] { close(0); close(1); close(2); return good(); }},
    // blaming the judge
    {"maps_odd_names", [] { for (const char* name : {"data/\xff\xfe", "data/a\rb", "data/\r", "data/a (deleted)"}) for (bool gone : {true, false}) {
        write_file(name, "x", 1); shared_block(4096, open(name, O_RDWR)); if (gone) unlink(name); }
        usleep(300000); return good(); }},
    {"odd_process_names", [] { for (const char* name : {"a\rVmPTE: x", "a\rVmRSS: \xff", "a) Z (b", "\xff\n\r"}) if (fork() == 0) {
        prctl(PR_SET_NAME, name); usleep(300000); _exit(0); }
        usleep(400000); return good(); }},
    {"memory_behind_vfork", [] { hog(120 << 20); for (int i = 0; i < 10; i++) if (vfork() == 0) { usleep(50000); _exit(0); } return good(); }},
    {"memory_behind_slow_looks", [] { int fd = full_file("data/gone", 4096); unlink("data/gone");
        auto change = [](void*) -> void* { sched_param none{}; sched_setscheduler(0, SCHED_IDLE, &none);
            for (;;) { auto p = static_cast<char*>(mmap(nullptr, 64 << 21, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
                for (size_t i = 0; i < 64; i += 2) mprotect(p + (i << 21), 1 << 21, PROT_READ); munmap(p, 64 << 21); } };
        for (int i = 0; i < 50; i++) if (fork() == 0) {
            for (int k = 0; k < 2300; k++) mmap(nullptr, 4096, PROT_READ, k % 2 ? MAP_SHARED : MAP_PRIVATE, fd, 0);
            pthread_t thread; for (int k = 0; k < 3; k++) pthread_create(&thread, nullptr, change, nullptr);
            for (;;) pause(); }
        sleep(3); hog(size_t(1500) << 20); sleep(2); return good(); }},
    {"memory_behind_a_lock", [] { constexpr size_t size = 16 << 20, count = 4096; int fd = full_file("data/mapped", size);
        static auto base = static_cast<char*>(mmap(nullptr, size * count, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        for (size_t i = 0; i < count; i++) { auto p = static_cast<char*>(mmap(base + i * size, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0));
            if (p == MAP_FAILED) return 1;
            for (size_t k = 0; k < size; k += 65536) (void)*const_cast<volatile char*>(p + k); }
        auto change = [](void*) -> void* { for (;;) for (int kind : {PROT_READ, PROT_READ | PROT_WRITE}) mprotect(base, size * count, kind); };
        pthread_t thread; for (int i = 0; i < 4; i++) pthread_create(&thread, nullptr, change, nullptr);
        for (;;) pause(); }},
    {"many_mappings", [] { int fd = full_file("data/gone", 1 << 20); unlink("data/gone"); for (int i = 0; i < 49; i++) if (fork() == 0) break;
        for (int i = 0; i < 64000; i++) mmap(nullptr, 4096, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
        for (;;) pause(); return 0; }},
    {"many_open_files", [] { full_file("data/gone", 1 << 20); int fd = open("data/gone", O_RDWR); unlink("data/gone");
        for (int i = 0; i < 59; i++) if (fork() == 0) break;
        while (dup(fd) >= 0); for (;;) pause(); return 0; }},
    // reading what is not its own
    {"reads_reference", [] { return hand_in(reference) ? 0 : 1; }},
    {"reads_reference_upwards", [] { std::string up; for (int i = 0; i < 12; i++) { up += "../"; if (hand_in(up + reference)) return 0; } return 1; }},
    {"reads_through_proc", [] {
        for (const char* place : {"root", "cwd"}) for (int pid : {1, int(getppid()), int(getppid()) - 1, int(getppid()) + 1})
            if (hand_in("/proc/" + std::to_string(pid) + "/" + place + reference)) return 0;
        return 1; }},
    {"reads_open_files", [] { for (int pid : {1, int(getppid())}) for (int fd = 0; fd < 64; fd++)
        if (hand_in("/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd))) return 0; return 1; }},
    {"searches_mounts", [] {
        std::ifstream mounts("/proc/self/mountinfo"); std::string line;
        while (std::getline(mounts, line)) for (size_t at = 0; (at = line.find(" /", at)) != std::string::npos; at++)
            if (hand_in(line.substr(at + 1, line.find(' ', at + 1) - at - 1) + reference)) return 0;
        return hand_in("/mnt" + reference) ? 0 : 1; }},
    {"reads_environment", [] {
        std::string found; if (getenv("CUSET_TEST_TOKEN")) found = getenv("CUSET_TEST_TOKEN");
        for (int pid : {1, int(getppid())}) { std::ifstream file("/proc/" + std::to_string(pid) + "/environ");
            std::string all((std::istreambuf_iterator<char>(file)), {}); size_t at = all.find("CUSET_TEST_TOKEN=");
            if (at != std::string::npos) found = all.substr(at + 17, 32); }
        if (found.size() < 32) return 1;
        write_file(OUT, found.data(), 32); return 0; }},
    // reaching out
    {"writes_outside", [] { for (auto place : {victim, std::string("/tmp"), std::string("/var/tmp"), std::string("/dev/shm"), std::string("..")})
        write_file((place + "/cuset-escaped").c_str(), "x", 1); return 1; }},
    {"connects", [] {
        int fd = socket(AF_INET, SOCK_STREAM, 0); sockaddr_in address{}; address.sin_family = AF_INET;
        address.sin_port = htons(port); inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
        return connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) ? 1 : good(); }},
    {"sends_datagrams", [] {
        int fd = socket(AF_INET, SOCK_DGRAM, 0); sockaddr_in address{}; address.sin_family = AF_INET;
        address.sin_port = htons(port); inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
        return sendto(fd, "x", 1, 0, reinterpret_cast<sockaddr*>(&address), sizeof address) < 0 ? 1 : good(); }},
    {"kills_parent", [] { int failed = 0; for (int i = 0; i < 3; i++) { failed += kill(getppid(), SIGKILL) != 0; usleep(2000); }
        return failed == 3 ? 1 : good(); }},
    {"kills_its_group", [] { kill(0, SIGKILL); usleep(10000); return 1; }},
    // As root outside a PID namespace this would end the machine that tests it, which the judge never lets happen.
    {"kills_everybody", [] { if (getuid() == 0 && getppid() != 1 && getpid() > 64) return 1; kill(-1, SIGKILL); usleep(10000); return 1; }},
    {"traces_parent", [] { return ptrace(PTRACE_ATTACH, getppid(), 0, 0) ? 1 : good(); }},
    {"becomes_root", [] { write_file(OUT, "", 0); bool root = setuid(0) == 0 && setresuid(0, 0, 0) == 0;
        // root in name only (bubblewrap) may do nothing that root may
        return root && (chroot(".") == 0 || sethostname("attack", 6) == 0) ? good() : 1; }},
    {"mounts", [] { unshare(CLONE_NEWUSER | CLONE_NEWNS);
        return mount("none", "data", "tmpfs", 0, nullptr) && mount(reference.c_str(), "program", nullptr, MS_BIND, nullptr) ? 1 : good(); }},
    {"limits_others", [] { rlimit none{0, 0}; return others([&](pid_t pid) { return prlimit(pid, RLIMIT_CORE, &none, nullptr) == 0; }); }},
    {"slows_others", [] { return others([](pid_t pid) { int nice = getpriority(PRIO_PROCESS, pid);
        return nice < 19 && setpriority(PRIO_PROCESS, pid, 19) == 0 && getpriority(PRIO_PROCESS, pid) != nice; }); }},
    {"slows_its_user", [] { setpriority(PRIO_USER, 0, 7); return getpriority(PRIO_PROCESS, getppid()) == 7 ? good() : 1; }},
    {"pins_others", [] { return others([](pid_t pid) { cpu_set_t before, one, after; CPU_ZERO(&one); CPU_SET(0, &one);
        if (sched_getaffinity(pid, sizeof before, &before) || CPU_COUNT(&before) < 2 || sched_setaffinity(pid, sizeof one, &one)) return false;
        sched_getaffinity(pid, sizeof after, &after); return !CPU_EQUAL(&before, &after); }); }},
    {"makes_others_idle", [] { return others([](pid_t pid) { sched_param none{}; int before = sched_getscheduler(pid);
        return before != SCHED_IDLE && sched_setscheduler(pid, SCHED_IDLE, &none) == 0 && sched_getscheduler(pid) != before; }); }},
    {"connects_to_service", [] { int failed = 0; for (bool abstract : {false, true}) { auto address = unix_address(abstract);
        failed += connect(socket(AF_UNIX, SOCK_STREAM, 0), reinterpret_cast<sockaddr*>(&address), length_of(address)) != 0; }
        return failed == 2 ? 1 : good(); }},
    {"messages_to_service", [] { int failed = 0, fd = socket(AF_UNIX, SOCK_DGRAM, 0); auto address = unix_address(false);
        strcat(address.sun_path, "-datagrams");
        failed += sendto(fd, "x", 1, 0, reinterpret_cast<sockaddr*>(&address), length_of(address)) < 0;
        failed += send_by_message(fd, address);
        return failed == 2 ? 1 : good(); }},
    {"talks_below_system", [] { sockaddr_un address{}; address.sun_family = AF_UNIX; strcpy(address.sun_path, (below_system + "/listener").c_str());
        bool won = connect(socket(AF_UNIX, SOCK_STREAM, 0), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
        won |= write(open((below_system + "/pipe").c_str(), O_WRONLY | O_NONBLOCK), "x", 1) == 1; char byte;
        won |= read(open((below_system + "/full").c_str(), O_RDONLY | O_NONBLOCK), &byte, 1) == 1;
        return won ? good() : 1; }},
    {"overwrites_parents", [] { good(); overwrite_parents(); abort(); return 0; }},
    {"opens_other_sockets", [] { for (int family = 0; family < 64; family++) for (int kind : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET})
        if (family != AF_UNIX && family != AF_NETLINK && family != AF_INET && family != AF_INET6 && socket(family, kind, 0) >= 0) return good();
        return 1; }},
    {"changes_modes", [] { struct stat now; chmod(victim.c_str(), 0700); stat(victim.c_str(), &now); bool won = (now.st_mode & 0777) == 0700;
        chmod(victim.c_str(), 0777); return won ? good() : 1; }},
    {"changes_times", [] { struct stat now; timespec times[2] = {{1, 0}, {1, 0}}; utimensat(AT_FDCWD, victim.c_str(), times, 0);
        stat(victim.c_str(), &now); return now.st_mtime == 1 ? good() : 1; }},
    {"writes_attributes", [] { bool won = setxattr(victim.c_str(), "user.cuset", "x", 1, 0) == 0;
        removexattr(victim.c_str(), "user.cuset"); return won ? good() : 1; }},
    {"leaves_system_v", [] { int made = msgget(0x43555345, IPC_CREAT | 0600) >= 0; made += semget(0x43555345, 1, IPC_CREAT | 0600) >= 0;
        made += shmget(0x43555345, 4096, IPC_CREAT | 0600) >= 0; return made ? good() : 1; }},
    {"leaves_shared_memory", [] { shmget(0x43555345, 1 << 20, IPC_CREAT | 0600); int fd = open("/dev/shm/cuset-escaped", O_CREAT | O_RDWR, 0600);
        if (fd >= 0) { if (ftruncate(fd, 1 << 20)) return 2; } return good(); }},
    // outputs
    {"no_output", [] { return 0; }},
    {"wrong_size", [] { write_file(OUT, "short", 5); return 0; }},
    {"empty_output", [] { write_file(OUT, "", 0); return 0; }},
    {"huge_output", [] { int fd = open(OUT, O_CREAT | O_WRONLY, 0600); if (ftruncate(fd, 15 << 20)) return 2; return 0; }},
    {"nan_output", [] { float bytes[8]; for (float& value : bytes) value = NAN; write_file(OUT, bytes, sizeof bytes); return 0; }},
    {"link_to_reference", [] { return symlink(reference.c_str(), OUT) ? 2 : 0; }},
    {"link_to_passwd", [] { return symlink("/etc/passwd", OUT) ? 2 : 0; }},
    {"link_to_input", [] { return symlink("input.bin", OUT) ? 2 : 0; }},
    {"hard_link_to_input", [] { return link("data/input.bin", OUT) ? 2 : 0; }},
    {"hard_link_to_itself", [] { good(); return link(OUT, "data/second.bin") ? 2 : 0; }},
    {"fifo_output", [] { return mkfifo(OUT, 0666) ? 2 : 0; }},
    {"folder_output", [] { return mkdir(OUT, 0700) ? 2 : 0; }},
    {"device_output", [] { return mknod(OUT, S_IFCHR | 0666, makedev(1, 5)) ? 2 : 0; }},
    {"folder_is_a_link", [] { std::string folder = reference.substr(0, reference.rfind('/'));
        if (rename("data", "moved")) return 2; return symlink(folder.c_str(), "data") ? 2 : 0; }},
    {"removes_data", [] { return system("rm -rf data tmp") ? 0 : 0; }},
    {"writes_inputs", [] { chmod("data/input.bin", 0666); write_file("data/input.bin", "spoiled", 7); unlink("data/input.bin");
        write_file("data/input.bin", "spoiled", 7); chmod("program", 0777); write_file("program", "spoiled", 7);
        unlink("program"); return good(); }},
    // endings
    {"segfault", [] { *static_cast<volatile int*>(nullptr) = 1; return 0; }},
    {"aborts", [] { abort(); return 0; }},
    {"exit_3", [] { good(); return 3; }},
    {"dumps_core", [] { good(); raise(SIGQUIT); return 0; }},
};

int main() {
    std::ifstream request("data/attack.txt");
    std::string name, number;
    for (std::string* line : {&name, &reference, &number, &victim, &below_system}) std::getline(request, *line);
    port = atoi(number.c_str());
    auto found = attacks.find(name);
    return found == attacks.end() ? 99 : found->second();
}
