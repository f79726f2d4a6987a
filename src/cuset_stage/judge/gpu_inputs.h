#pragma once
#include <string>

// Begins with what the plan says that all_cases.so has read: 'w' where inputs are withheld, else '-'; their paths below the folder, with ':'
// between them; a line end; and blocks of 32 bytes of the right outputs. False where somebody else has taken the plan.
bool withhold_inputs(const std::string& folder);

// "U inputs outputs others copied shared": bytes that went up in copies, or lay in shared memory at the first launch after it was made, by where they stand;
// others are those in neither but zeros; outputs: in the plan's blocks, each of which counts once. copied: all bytes of the copies that were seen. shared: bytes of memory that host and GPU share.
std::string what_went_up();
