"""How tests wait, as tests/support/soon.h has it for C++: for an event, as long as it takes."""
import os
import time

# Shortly before CTest would end this program; an hour from now for one that is started by hand.
_ENDS = time.monotonic() + float(os.environ.get("PACML_TEST_SECONDS", "3600"))


def wait_until(what, holds, meanwhile=None, shows=None):
    """What `holds` answers, once that counts as true. Calls `meanwhile` between two looks.

    An AssertionError when the test's time is up, with what `shows` answers then."""
    while True:
        value = holds()
        if value:
            return value
        if meanwhile:
            meanwhile()
        if time.monotonic() > _ENDS:
            raise AssertionError(f"waiting until {what}" + (f"; {shows()}" if shows else ""))
        time.sleep(0.1)  # between two looks
