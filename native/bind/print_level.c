/* Prints the level of this machine, for builds of that level only. */
#include <stdio.h>

#include "level.h"

int main(void) {
    unsigned words[LEVEL_WORDS];
    ask_processor(words);
    puts(level_names[level_of(words)]);
    return 0;
}
