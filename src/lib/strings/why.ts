/** Why an answer was offered the skills that it was. */
export const whyText = {
	title: 'Why these skills?',
	loading: 'Reading what was offered…',
	builtIn:
		'The built-in responder gave this answer. It is no language model: it took the skill whose words fit yours best, or none.',
	noOffer: 'Nothing was kept of what this answer was offered: it is of an older version, or it ended before it began.',
	nothingOffered: 'There was no skill to offer.',
	offered: (total: number, tokens: string) =>
		total === 1
			? `One skill could be offered; telling the model of it took about ${tokens} tokens.`
			: `${total} skills could be offered; telling the model of them took about ${tokens} tokens.`,
	best: (count: number) => `The best ${count} are listed.`,
	points:
		'Points say how well the words of the question fit a skill: rare words count more, and a name more than a description. They put the skills in order when there is no room to describe all of them; which one to load is the model’s own choice.',
	noWords: 'No word of the question fits any of these skills.',
	filter: 'Which skills',
	filters: { offered: 'Offered', loaded: 'Loaded', untold: 'Not told' },
	empty: {
		offered: 'None of these skills was offered.',
		loaded: 'No skill was loaded or run.',
		untold: 'The model was told of all these skills.'
	},
	told: { full: 'with its description', name: 'by name', omitted: 'not told: no room' },
	unlisted: 'was not among those listed here',
	always: { pinned: 'pinned', on: 'always on' },
	alwaysTitle: {
		pinned: 'Somebody pinned it in this conversation: its instructions are with the model as far as there is room',
		on: 'Its mode is “on”: in every conversation its instructions are with the model as far as there is room'
	},
	loaded: 'loaded',
	ran: { running: 'is running', success: 'ran', error: 'failed' },
	tokens: (tokens: string) => `${tokens} tokens`,
	pointsOf: (points: string) => (points === '1' ? '1 point' : `${points} points`),
	signals: {
		name: 'name',
		description: 'description',
		tag: 'tag',
		trigger: 'trigger',
		'whole name': 'its whole name'
	},
	signal: (signal: string, words: string, points: string) => `${signal}: ${words} (${points})`,
	noPoints: 'no word of the question',
	skillPage: (name: string) => `${name}: open the page of this skill`
};
