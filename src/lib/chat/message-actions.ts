/** What can be done with a message that is there. */
import type { ApprovalDecision } from '../shared/events.ts';

export interface MessageActions {
	/** An answer is being written: messages must stay as they are. */
	isLocked: boolean;
	/** Is this message of the user being asked otherwise? */
	isEditing: boolean;
	setEditing: (isEditing: boolean) => void;
	/** Puts this text in the place of a user's message. False when it was not taken. */
	edit: (text: string) => Promise<boolean>;
	/** Gives another answer beside this one. */
	retry: () => void;
	/** The same, by another model; absent where none can be chosen. */
	retryWith?: ((model: string) => void) | undefined;
	/** Reads the models that could answer, where they are not known yet. */
	loadModels?: (() => void) | undefined;
	/** Goes on with the answer; absent where that cannot be. */
	continue?: (() => void) | undefined;
	/** A conversation of its own with everything up to here. */
	fork: () => void;
	/** Asks whether to remove the message and all that follows, and does it. */
	remove: () => void;
	/** Shows a message in place of this one. */
	show: (messageId: string) => Promise<boolean>;
	/** Rejects with a sentence to show. */
	decide: (interruptId: string, decision: ApprovalDecision) => Promise<void>;
	/** May the focus move to a question that comes up? */
	mayFocus: () => boolean;
	/** Puts a text where one writes to the model, to be looked at and sent. */
	ask?: ((text: string) => void) | undefined;
	/** Opens the choice of the model. */
	switchModel?: (() => void) | undefined;
}

/** How another model is chosen from among the messages. */
export interface ModelSwitch {
	/** Empty until they are read. */
	readonly models: readonly ModelChoice[];
	load: () => void;
	/** Opens the choice of the model. */
	open: () => void;
}

/** A model to choose for another answer. */
export interface ModelChoice {
	id: string;
	name: string;
}
