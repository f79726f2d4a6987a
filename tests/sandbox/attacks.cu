// Programs that misbehave, all in one binary: data/attack.txt names the one to run and what it may aim at.
// A line each: the name, the path of the reference, the port of a listener, a folder everybody may write to.
// "Won" is an output file that holds the reference; anything the judge must notice by itself has no output.
#include <arpa/inet.h>
#include <cerrno>
#include <climits>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <map>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static std::string reference, victim;
static int port;
static const char* OUT = "data/out.bin";

static void write_file(const char* path, const void* bytes, size_t count) {
    if (FILE* file = fopen(path, "wb")) {
        fwrite(bytes, 1, count, file);
        fclose(file);
    }
}
static int good() {
    char bytes[32];
    memset(bytes, 'g', sizeof bytes);
    write_file(OUT, bytes, sizeof bytes);
    return 0;
}
// The attack is won when a file of 32 bytes can be read: hand it in as the output.
static bool hand_in(const std::string& path) {
    char bytes[32];
    FILE* file = fopen(path.c_str(), "rb");
    if (!file) return false;
    size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    if (count != sizeof bytes) return false;
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
static void* sleep_thread(void*) {
    pause();
    return nullptr;
}
static void hog(size_t bytes) {
    for (size_t done = 0; done < bytes; done += 1 << 20) {
        char* block = static_cast<char*>(mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (block == MAP_FAILED) exit(1);
        for (size_t i = 0; i < 1 << 20; i += 4096) block[i] = 1;
    }
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
        for (;;) if (pthread_create(&thread, &attributes, sleep_thread, nullptr)) usleep(1000);
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
    {"memory_in_dev_shm", [] { fill(open("/dev/shm/hog", O_CREAT | O_WRONLY, 0600)); return 1; }},
    // disk
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
    {"floods_then_right", [] { for (int i = 0; i < 300000; i++) puts("flood of text that nobody wants to read"); puts("the end"); return good(); }},
    {"closes_stdout", [] { close(0); close(1); close(2); return good(); }},
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
    // As root outside a PID namespace this would end the machine that tests it, which the judge never lets happen.
    {"kills_everybody", [] { if (getuid() == 0 && getppid() != 1 && getpid() > 64) return 1; kill(-1, SIGKILL); usleep(10000); return 1; }},
    {"traces_parent", [] { return ptrace(PTRACE_ATTACH, getppid(), 0, 0) ? 1 : good(); }},
    {"becomes_root", [] { write_file(OUT, "", 0); bool root = setuid(0) == 0 && setresuid(0, 0, 0) == 0;
        // root in name only (bubblewrap) may do nothing that root may
        return root && (chroot(".") == 0 || sethostname("attack", 6) == 0) ? good() : 1; }},
    {"mounts", [] { unshare(CLONE_NEWUSER | CLONE_NEWNS);
        return mount("none", "data", "tmpfs", 0, nullptr) && mount(reference.c_str(), "program", nullptr, MS_BIND, nullptr) ? 1 : good(); }},
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
    std::getline(request, name);
    std::getline(request, reference);
    std::getline(request, number);
    std::getline(request, victim);
    port = atoi(number.c_str());
    auto found = attacks.find(name);
    return found == attacks.end() ? 99 : found->second();
}
