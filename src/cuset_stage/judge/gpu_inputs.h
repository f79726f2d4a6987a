#pragma once
#include <string>

// From the first call of the program on; true also where $CUSET_GPU_INPUTS names no file.
bool withhold_inputs();

// "U inputs outputs others copied": bytes that went up in copies, or lay in shared memory at the first launch, by where they stand; others
// are those in neither but zeros. copied: all bytes of the copies that were seen.
std::string what_went_up();
