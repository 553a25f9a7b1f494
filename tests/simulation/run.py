#!/usr/bin/env python3
"""Runs the simulation for as long as desired, on all processors, from a random seed.

tests/simulation/run.py [--minutes N] [--seed N] [--program FILE]
"""
import argparse
import os
import pathlib
import random
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument('--minutes', type=float, default=10)
parser.add_argument('--seed', type=int, default=random.randrange(10**9))
parser.add_argument('--program', default=pathlib.Path(__file__).resolve().parents[2] / 'build/tests/simulation')
arguments = parser.parse_args()

print(f'seed {arguments.seed}', flush=True)
far_apart = 10**9
runs = [
    subprocess.Popen(
        [arguments.program, '--seed', str(arguments.seed + i * far_apart), '--seconds', str(int(arguments.minutes * 60))]
    )
    for i in range(os.cpu_count() or 1)
]
sys.exit(max(abs(run.wait()) for run in runs))
