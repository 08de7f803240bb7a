#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What was counted between branches: branch_counters.py PERFILE ASSEMBLE

The program is made of bytes. What is expected perf 7.2 prints of the same recording.
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

ATTR = 'attr type=4 config=%s sample_type=IDENTIFIER|IP|TID|TIME|BRANCH_STACK branch_sample_type=%s ids=%s name="%s" sample_id_all=1\n'
RECORDING = ATTR % (1, '0x80008', 1, 'branches') + ATTR % (2, '0x80008', 2, 'misses') + ATTR % (3, '0x8', 3, 'other') + '''
feature ARCH s:"x86_64"
%sfeature GROUP_DESC u32:1,s:"{branches,misses}",u32:0,u32:2
feature EVENT_DESC
record COMM pid=7 tid=7 comm="prog" | pid=7 tid=7 time=1
record MMAP misc=2 pid=7 tid=7 addr=0x1000 len=0x1000 pgoff=0 filename="/prog" | pid=7 tid=7 time=1
sample event=1 misc=2 ip=0x1042 pid=7 tid=7 time=2 branch_stack=2,0x1042,0x1040,branch:0x2,0x1042,0x1040,branch:0x2,13,0
sample event=2 misc=2 ip=0x1042 pid=7 tid=7 time=3 branch_stack=1,0x1042,0x1040,branch:0x2
'''
CAPS = 'feature CPU_PMU_CAPS u32:2,s:"branch_counter_nr",s:"4",s:"branch_counter_width",s:"2"\n'
LEGEND = """# Branch counter abbr list:
# branches = A
# misses = B
# '-' No event occurs
# '+' Event occurrences may be lost due to branch counter saturated
"""
JUMP = '\t0000000000001042\tinsn: eb fc                   \t'
TEXT = (LEGEND + '             1042\n' + JUMP + '\t# br_cntr: -  PRED\n\t0000000000001040\tinsn: 90 \n'
        '\t0000000000001041\tinsn: 90 \n' + JUMP + '\t# br_cntr: ABBB+  PRED\n\n' +
        LEGEND + '             1042\n' + JUMP + '\t# br_cntr: -  PRED\n\n')


def main():
    hermetic.settle()
    perfile, assemble = hermetic.programs()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        header = b'\x7fELF' + bytes([2, 1, 1]) + bytes(9) + bytes([2, 0, 62, 0, 1, 0, 0, 0])
        (folder / 'prog').write_bytes(header.ljust(64, b'\0') + bytes([0x90, 0x90, 0xeb, 0xfc]))
        recording = folder / 'perf.data'
        environment = hermetic.environment(XDG_CACHE_HOME=name, HOME=name)
        for caps, expected in ((CAPS, TEXT), ('', TEXT.replace('ABBB+ ', '? ').replace('-  PRED', '?  PRED'))):
            recording.write_bytes(subprocess.check_output(assemble, input=(RECORDING % caps).encode()))
            command = [*perfile, 'script', '-F', 'ip,brstackinsn,brcntr', '--symfs', folder, recording]
            got = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
            if got != expected:
                sys.exit(f'{got}expected:\n{expected}')
    print('the counters are right')


if __name__ == '__main__':
    main()
