// Snippets are type-checked one after the other in one file, and never run: nothing ever reaches this from two threads.
nonisolated(unsafe) var configuration: SupabaseConfiguration = given()
let owner: UUID = given()
