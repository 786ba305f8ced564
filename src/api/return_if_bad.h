// Hands a failed check on to the caller.
#pragma once

#define EQUINORM_RETURN_IF_BAD(check)                            \
  do {                                                           \
    if (::equinorm::Status bad = (check); !bad.ok()) return bad; \
  } while (false)
