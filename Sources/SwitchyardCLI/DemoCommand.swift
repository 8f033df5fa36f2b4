import Switchyard
import SwitchyardLifeSignalStory
import SwitchyardMock

/// `switchyard demo`
struct DemoCommand {
    init(_ words: [String]) throws(UsageError) {
        guard words.isEmpty else { throw UsageError("“demo” takes no options") }
    }

    func run() async -> ExitStatus {
        do {
            let project = MockBackend()
            project.accounts.asksForConfirmation = true
            let alice = try await device(of: project)
            let bob = try await device(of: project)
            let story = LifeSignalStory(alice: alice, bob: bob) { address in
                guard let link = project.accounts.mail(.addressConfirmation, to: address)?.link else {
                    throw AuthError(.emailNotConfirmed, "No mail has come.")
                }
                return link
            } tell: { line in
                Terminal.print(line)
            }
            try await story.run()
            await alice.shutDown()
            await bob.shutDown()
            return .success
        } catch {
            Terminal.error("The demo failed: \(error)")
            return .failure
        }
    }

    private func device(of project: MockBackend) async throws(InfrastructureError) -> Infrastructure {
        try await InfrastructureFactory(MockModule(backend: project)).make(InfrastructureSelection(default: .mock))
    }
}
