/** What the page to log in says. */
export const loginText = {
	logInOpenrouterSkills: 'Log in · openrouter-skills',
	logInToOpenrouter: 'Log in to openrouter-skills',
	token: 'Token',
	theValueOf: 'The value of',
	adminToken: 'ADMIN_TOKEN',
	fromThe: ', from the',
	env: '.env',
	fileOrTheEnvironment: 'file or the environment that the server was started with.',
	logIn: 'Log in'
};
