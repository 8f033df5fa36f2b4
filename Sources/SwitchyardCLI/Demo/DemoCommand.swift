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
            if let page { Terminal.print("The page that shows it: \(page.url)") }
            let outcome = await Interruptible.run { await play(on: server, page) }
            if case .success = outcome.result, let page {
                let end = EndRequest()
                Terminal.print("The page stays at \(page.url) until Ctrl-C.")
                await end.wait()
            }
            await page?.stop()
            await server.stop()
            if case .failure(let error) = outcome.result { throw error }
            return outcome.isInterrupted ? .interrupted : .success
        } catch {
            Terminal.error("The demo failed: \(error)")
            return .failure
        }
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
