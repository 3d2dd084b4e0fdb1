/** What the page of the API says. */
export const apiOperationText = {
	parametersOf: (operationId: string | number) => `Parameters of ${operationId}`,
	parameters: 'Parameters',
	required: ', required',
	body: 'Body:',
	schemaOfTheBody: (operationId: string | number, type: string | number) =>
		`Schema of the body of ${operationId}, ${type}`,
	answersOf: (operationId: string | number) => `Answers of ${operationId}`,
	answers: 'Answers',
	exampleOf: (operationId: string | number) => `Example of ${operationId}`,
	copyTheExampleOf: (operationId: string | number) => `Copy the example of ${operationId}`
};

export const apiPageText = {
	api: 'API',
	backToTheSkills: 'Back to the skills',
	operations: (count: string | number) => `${count} operations`,
	openapi31: 'OpenAPI 3.1',
	tryAgain: 'Try again',
	reading: 'Reading …',
	partsOfTheApi: 'Parts of the API'
};
