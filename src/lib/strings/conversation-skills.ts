/** The skills of one conversation: chips above the text box. */
export const conversationSkillsText = {
	list: 'Skills of this conversation',
	tokens: (tokens: string) => `${tokens} tokens`,
	totalTitle: 'What the instructions of these skills take of each message to the model, estimated',
	pinned: 'Pinned',
	pinnedTitle: 'Pinned: its instructions are with the model, however long the conversation',
	loaded: 'Loaded',
	loadedTitle: 'Loaded by the model',
	pending: 'Pinned as soon as you send your message',
	unavailable: 'cannot be used',
	unavailableTitle: 'It is switched off, broken or gone, so the model does not have it',
	menu: (name: string) => `What to do with ${name}`,
	openPage: (name: string) => `${name}: open the page of this skill`,
	pin: 'Pin: always with the model',
	unpin: 'Unpin',
	unload: 'Unload: take its instructions away',
	more: (count: number) => `${count} more`,
	fewer: 'Show fewer',
	tooMany: (most: number) => `At most ${most} skills can be pinned before the first message.`
};
