import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLifeSignalStory
import SwitchyardLocalFirebase
import SwitchyardPage
import SwitchyardReporting

/// `switchyard demo`
struct DemoCommand: ToolCommand {
    private let showsPage: Bool

    init(_ words: [String]) throws(UsageError) {
        showsPage = try Options(words, of: Commands.named("demo")).has("--page")
    }

    func run() async -> ExitStatus {
        do {
            var options = LocalFirebaseOptions()
            options.hasDomainRules = true
            let server = try LocalFirebase(options)
            let page: Page?
            do {
                page = showsPage ? try await .started([.local(server)], Page.Options()) : nil
            } catch {
                await server.stop()
                throw error
            }
            let outcome: Result<ExitStatus, any Error>
            if let page { outcome = await show(page, server) } else { outcome = await playAlone(server) }
            await page?.stop()
            await server.stop()
            return try outcome.get()
        } catch {
            Terminal.error("The demo failed: \(error)")
            return .failure
        }
    }

    private func playAlone(_ server: LocalFirebase) async -> Result<ExitStatus, any Error> {
        let outcome = await Interruptible.run { await play(on: server, nil) }
        return outcome.result.map { outcome.isInterrupted ? .interrupted : .success }
    }

    /// Until Ctrl-C, which also ends a demo that is still playing.
    private func show(_ page: Page, _ server: LocalFirebase) async -> Result<ExitStatus, any Error> {
        Terminal.print("The page that shows it: \(page.url)")
        let end = EndRequest()
        let playing = Task { await play(on: server, page) }
        let ending = Task {
            await end.wait()
            playing.cancel()
        }
        let result = await playing.value
        if case .failure(let error) = result {
            if playing.isCancelled { return .success(.interrupted) }
            ending.cancel()
            return .failure(error)
        }
        Terminal.print("The page stays at \(page.url) until Ctrl-C.")
        await ending.value
        return .success(.success)
    }

    private func play(on server: LocalFirebase, _ page: Page?) async -> Result<Void, any Error> {
        do {
            Terminal.print("Two devices of a check-in app, on a local Firebase in this process")
            let devices = [try await device(of: server), try await device(of: server)]
            let project = try await device(of: server)
            if let url = page.flatMap({ URL(string: $0.url) }) {
                for (device, name) in zip(devices, ["Alice's device", "Bob's device"]) {
                    try device.report(to: url, as: name)
                }
            }
            do {
                try await LifeSignalStory(alice: devices[0], bob: devices[1], server: project) {
                    Terminal.print($0)
                }.run()
                server.allowsEverything = true
                try await DemoMove(server: server) { Terminal.print($0) }.run()
            } catch {
                for device in devices + [project] { await device.shutDown() }
                throw error
            }
            for device in devices + [project] { await device.shutDown() }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func device(of server: LocalFirebase) async throws -> Infrastructure {
        try await Infrastructure(FirebaseModule(LocalBackends.settings(of: server)))
    }
}
