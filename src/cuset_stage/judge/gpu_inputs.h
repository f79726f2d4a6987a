#pragma once
#include <string>

// From the first call of the program on; true also where $CUSET_GPU_INPUTS names no file.
bool withhold_inputs();

// "U inputs outputs others copied shared": bytes that went up in copies, or lay in shared memory at the first launch, by where they stand;
// others are those in neither but zeros. copied: all bytes of the copies that were seen. shared: bytes of memory that host and GPU share.
std::string what_went_up();
