#!/usr/bin/env python3
"""Plants faults, one at a time, and says after how many runs the simulation finds each.

tests/simulation/planted.py [--build DIRECTORY] [--runs N] [--seed N] [NAME…]

faults/NAME.patch changes .cpp files of zksh, or of the simulation. These alone are compiled again, beside the build directory, which must be
one without ZKSH_UNITY and with the target `simulation` built.
"""
import argparse
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
root = here.parents[1]


def patched_files(patch):
    return re.findall(r'^\+\+\+ b/(\S+)', patch.read_text(), re.M)


def apply(patch, to):
    """Puts the patched files below the directory `to`."""
    for name in patched_files(patch):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, to / name)
    subprocess.run(['patch', '-s', '-p1', '-d', to, '-i', patch], check=True)


def build_with(patch, build, to):
    """The simulation with this fault."""
    apply(patch, to)
    sources = {root / name for name in patched_files(patch)}
    link = subprocess.check_output(['ninja', '-C', build, '-t', 'commands', 'tests/simulation'], text=True)
    link = shlex.split(link.splitlines()[-1].removeprefix(': && ').removesuffix(' && :'))
    for one in json.loads((build / 'compile_commands.json').read_text()):
        source = pathlib.Path(one['directory'], one['file']).resolve()
        if source not in sources:
            continue
        sources.remove(source)
        inside = source.relative_to(root)
        command = shlex.split(one['command'])
        object_file = to / (str(inside).replace('/', '_') + '.o')
        at = command.index('-o')
        original, command[at + 1] = command[at + 1], str(object_file)
        command[command.index('-c') + 1] = str(to / inside)
        subprocess.run([*command, '-iquote', source.parent], cwd=one['directory'], check=True)
        if original in link:
            link.remove(original)
        link.insert(link.index('-o'), str(object_file))  # before the library, whose own is then not needed
    if sources:
        sys.exit(f"{build} compiles {', '.join(map(str, sources))} together with others, or not at all: it needs -DZKSH_UNITY=OFF")
    program = to / 'simulation'
    link[link.index('-o') + 1] = str(program)
    subprocess.run(link, cwd=build, check=True)
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, default=root / 'build')
    parser.add_argument('--runs', type=int, default=1000)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('names', nargs='*', metavar='NAME')
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    missed = 0
    print('| fault | found in run | by |\n| --- | --- | --- |')
    for patch in sorted((here / 'faults').glob('*.patch')):
        if arguments.names and patch.stem not in arguments.names:
            continue
        with tempfile.TemporaryDirectory() as directory:
            program = build_with(patch, build, pathlib.Path(directory))
            runs = subprocess.run(
                [program, '--seed', str(arguments.seed), '--runs', str(arguments.runs), '--no-shrinking'],
                capture_output=True, text=True, check=False)
        number = re.search(r'after (\d+) runs', runs.stderr)
        missed += number is None
        what = runs.stderr.splitlines()[0] if number else f'not found in {arguments.runs} runs'
        print(f'| {patch.stem} | {number[1] if number else "-"} | {what} |', flush=True)
    sys.exit(1 if missed else 0)


if __name__ == '__main__':
    main()
