import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import { relative, sep } from 'node:path';
import ts from 'typescript-eslint';
import { importViolation } from './tests/support/import-rule.ts';

/** Rules that ask the type checker, where detached work makes them worth their seconds; tsconfig.server.json keeps it lean. */
const TYPED = { files: ['src/lib/server/**/*.ts'], ignores: ['**/*.test.ts', 'src/lib/server/http.ts'] };
/**
 * The dependency rule between the parts of src/, with the same judge as tests/architecture.test.ts.
 *
 * @type {import('eslint').Rule.RuleModule}
 */
const dependencyRule = {
	meta: { type: 'problem', schema: [] },
	create(context) {
		const file = relative(`${import.meta.dirname}/src`, context.filename)
			.split(sep)
			.join('/');
		/** @param {{ source?: any }} node */
		const check = ({ source }) => {
			const message = typeof source?.value === 'string' && importViolation(file, source.value);
			if (message) context.report({ node: source, message });
		};
		return {
			ImportDeclaration: check,
			ImportExpression: check,
			ExportNamedDeclaration: check,
			ExportAllDeclaration: check
		};
	}
};

export default ts.config(
	{
		ignores: [
			'build/',
			'dist/',
			'data/',
			'.svelte-kit/',
			'test-results/',
			'playwright-report/',
			'skills/',
			'tests/fixtures/'
		]
	},
	{ linterOptions: { reportUnusedDisableDirectives: 'error' } },
	js.configs.recommended,
	...ts.configs.strict,
	...svelte.configs.recommended,
	prettier,
	...svelte.configs.prettier,
	{
		languageOptions: { globals: { ...globals.browser, ...globals.node } },
		rules: {
			// TypeScript sees undefined names itself.
			'no-undef': 'off',
			'no-empty': ['error', { allowEmptyCatch: false }],
			'no-var': 'error',
			'prefer-const': 'error',
			eqeqeq: ['error', 'always', { null: 'ignore' }],
			'@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
			'@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
			'@typescript-eslint/no-empty-function': 'off',
			'@typescript-eslint/no-invalid-void-type': 'off',
			// Links are plain paths: the app is always served from the root.
			'svelte/no-navigation-without-resolve': 'off'
		}
	},
	{
		...TYPED,
		languageOptions: {
			parserOptions: { project: './tsconfig.server.json', tsconfigRootDir: import.meta.dirname }
		},
		rules: {
			'@typescript-eslint/no-floating-promises': 'error',
			'@typescript-eslint/await-thenable': 'error',
			'@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }]
		}
	},
	{
		files: ['**/*.svelte', '**/*.svelte.ts'],
		languageOptions: {
			parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'] }
		}
	},
	// The plugin's own rule knows that props are let.
	{ files: ['**/*.svelte'], rules: { 'prefer-const': 'off', 'svelte/prefer-const': 'error' } },
	{ files: ['src/lib/**'], rules: { 'no-console': 'error' } },
	// In a test a value that is not there is a failure either way.
	{ files: ['**/*.test.ts', 'tests/**'], rules: { '@typescript-eslint/no-non-null-assertion': 'off' } },
	{
		files: ['src/**'],
		plugins: { architecture: { rules: { imports: dependencyRule } } },
		rules: { 'architecture/imports': 'error' }
	}
);
