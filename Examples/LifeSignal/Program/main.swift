// The flows of a check-in app on the mock: two devices of one project.
import LifeSignalStory
import Switchyard
import SwitchyardMock

let project = MockBackend()
let alice = try await Infrastructure(.mock(project))
let bob = try await Infrastructure(.mock(project))

try await LifeSignalStory(alice: alice, bob: bob) { print($0) }.run()

await alice.shutDown()
await bob.shutDown()
