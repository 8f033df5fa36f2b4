// The flows of a check-in app: two devices of one project.
import LifeSignalStory
import LocalProjects
import Switchyard

// Rules for contacts and check-ins come with the package. Chats need their own rule: here everybody who is signed in can read
// them; a real app would be stricter.
let projects = try await LocalProjects.start(
    rules: """
        insert into switchyard.rules (collection_id, read, write) values ('messages', 'authenticated', 'owner')
        """)
print("running on \(projects.description)")
let alice = try await projects.makeDevice()
let bob = try await projects.makeDevice()
let server = try await projects.makeServer()

try await LifeSignalStory(alice: alice, bob: bob, server: server) { print($0) }.run()

await alice.shutDown()
await bob.shutDown()
await server.shutDown()
await projects.stop()
