/* The minor versions of Python 3 whose frames are read (capture/python/frame_offsets.def). From
 * PYTHON_TELLING on, an interpreter has a table of its own offsets. */
#pragma once

#define PYTHON_OLDEST 8
#define PYTHON_TELLING 13
#define PYTHON_NEWEST 15

#define PYTHON_DIGITS_OF(number) #number
#define PYTHON_DIGITS(number) PYTHON_DIGITS_OF(number)
#define PYTHON_VERSIONS "3." PYTHON_DIGITS(PYTHON_OLDEST) "-3." PYTHON_DIGITS(PYTHON_NEWEST)
