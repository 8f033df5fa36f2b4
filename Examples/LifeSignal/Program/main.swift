// The flows of a check-in app on the mock: two devices of one project.
import LifeSignalStory
import Switchyard
import SwitchyardMock

let project = MockBackend()
let alice = try await InfrastructureFactory(MockModule(backend: project)).make(InfrastructureSelection(default: .mock))
let bob = try await InfrastructureFactory(MockModule(backend: project)).make(InfrastructureSelection(default: .mock))

try await LifeSignalStory(alice: alice, bob: bob) { print($0) }.run()

await alice.shutDown()
await bob.shutDown()
