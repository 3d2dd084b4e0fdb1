/** The page of a conversation: what is there before the first message. */
export const chatText = {
	greeting: 'What can I do for you?',
	newChat: 'New chat',
	builtIn: 'the built-in responder',
	theModel: 'the model',
	suggestions: 'Suggestions',
	/** The beginning of a message, for somebody to finish. */
	suggestion: (skill: string) => `Use the ${skill} skill to `,
	noModel: 'No language model is connected: the built-in responder follows fixed rules, to show how skills work.',
	addKey: 'Add a key',
	noSkill: (name: string) => `There is no skill named “${name}” that can be used.`
};
