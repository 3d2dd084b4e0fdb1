#!/usr/bin/env node
/** The program behind `npx openrouter-skills`. */
import { runCli } from './run-cli.ts';

const { exitCode, stdout, stderr } = await runCli(process.argv.slice(2));
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = exitCode;
