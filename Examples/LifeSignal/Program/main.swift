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

try await LifeSignalStory(alice: alice, bob: bob) { print($0) }.run()

await alice.shutDown()
await bob.shutDown()
await projects.stop()
