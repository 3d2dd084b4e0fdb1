/** `npm run bench`: measures the app against what it is built on, in one run, and prints a table. */

import { benchConversation } from './conversation.ts';
import { benchFollowers } from './followers.ts';
import { benchInstalling } from './installing.ts';
import { benchLibrary } from './library.ts';
import { runCases } from './measure.ts';
import { benchNeeds, benchPackages } from './packages.ts';
import { benchPhrasings } from './phrasings.ts';
import { benchPromptCache } from './prompt-cache.ts';
import { benchRanking } from './ranking.ts';
import { benchRegistry } from './registry.ts';
import { benchRelay } from './relay.ts';
import { benchLoad, benchNews, benchTakeover } from './replicas.ts';
import { benchFirstText, benchStart } from './server.ts';
import { benchSandboxes } from './sandboxes.ts';
import { benchHandler, benchScript } from './skills.ts';
import { benchDurable, benchReplay } from './storing.ts';

const benches = [
	benchFirstText,
	benchRelay,
	benchFollowers,
	benchReplay,
	benchDurable,
	benchConversation,
	benchScript,
	benchHandler,
	benchSandboxes,
	benchPackages,
	benchNeeds,
	benchLibrary,
	benchRanking,
	benchPhrasings,
	benchPromptCache,
	benchRegistry,
	benchInstalling,
	benchTakeover,
	benchNews,
	benchLoad,
	benchStart
];
await runCases(benches.map((bench) => ({ name: bench.name, run: bench })));
