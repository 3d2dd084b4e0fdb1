/** `npm run bench`: measures the app against what it is built on, in one run, and prints a table. */

import { benchEvents } from './events.ts';
import { benchLibrary } from './library.ts';
import { markdownTable } from './measure.ts';
import { benchRanking } from './ranking.ts';
import { benchFirstText, benchStart } from './server.ts';
import { benchHandler, benchScript } from './skills.ts';

const rows = [];
// One after the other: side by side they would measure each other.
for (const bench of [benchFirstText, benchEvents, benchScript, benchHandler, benchLibrary, benchRanking, benchStart])
	rows.push(...[await bench()].flat());
console.log(markdownTable(rows));
