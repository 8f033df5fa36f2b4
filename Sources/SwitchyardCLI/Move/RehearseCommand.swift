import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardMock
import SwitchyardMove
import SwitchyardSupabase

/// `switchyard move rehearse`: the whole run, into a local server that is thrown away.
struct RehearseCommand: ToolCommand {
    private let from: URL
    private let to: URL
    private let options: MoveOptions
    private let hashes: URL?
    private let isJSON: Bool

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(Array(words.dropFirst()), of: Commands.named("move rehearse"))
        from = try MovePlace.configuration(given, "--from", for: "rehearse")
        to = try MovePlace.configuration(given, "--to", for: "rehearse")
        options = try MoveCommand.options(given)
        hashes = given["--hashes"].map { URL(fileURLWithPath: $0) }
        isJSON = given.has("--json")
    }

    private struct Report: Encodable {
        let plan: MovePlan
        let run: MoveReport
        let verification: MoveVerification
    }

    func run() async -> ExitStatus {
        let outcome = await Interruptible.run { await rehearse() }
        switch outcome.result {
        case .success(let status): return status
        case .failure(let error):
            Terminal.error("switchyard move rehearse: \(error.message)")
            return outcome.isInterrupted ? .interrupted : .failure
        }
    }

    private func rehearse() async -> Result<ExitStatus, MoveError> {
        do throws(MoveError) {
            let hashes = try hashes.map { (file) throws(MoveError) in try PasswordHashes.read(file) } ?? [:]
            let (source, old) = try await OpenEnd.backend(from, hashes)
            let target = await Self.target(like: to)
            let outcome: Result<ExitStatus, MoveError>
            do throws(MoveError) {
                outcome = .success(try await rehearse(source, try target.get()))
            } catch {
                outcome = .failure(error)
            }
            await old.shutDown()
            await (try? target.get())?.stop()
            return outcome
        } catch {
            return .failure(error)
        }
    }

    private func rehearse(_ source: BackendEnd, _ target: Target) async throws(MoveError) -> ExitStatus {
        let journal = FileManager.default.temporaryDirectory
            .appendingPathComponent("switchyard-rehearsal-\(UInt64.random(in: 0 ... .max))", isDirectory: true)
        defer { try? FileManager.default.removeItem(at: journal) }
        let end = try await BackendEnd(target.backend, name: "\(target.kind), local", passwordHashes: [:])
        let move = Move(from: source, to: end, options: options)
        let plan = try await move.plan()
        if !isJSON { Terminal.print(plan.description + "\n") }
        let run = try move.run(plan, journal: journal)
        let report = try await run.resultShowingProgress()
        let verification = try await move.verify(plan, journal: journal)
        if isJSON {
            let whole = Report(plan: plan, run: report, verification: verification)
            if let json = try? MoveSession.encoder.encode(whole) {
                Terminal.print(String(decoding: json, as: UTF8.self))
            }
        } else {
            Terminal.print(
                "\(report)\n\(verification)\nThis was a rehearsal: the local \(target.kind) is gone, and nothing else was written."
            )
        }
        return report.rejections.isEmpty && verification.isEqual ? .success : .failure
    }

    // MARK: The target

    private struct Target {
        let kind: String
        let backend: Infrastructure
        let stop: @Sendable () async -> Void
    }

    /// A local server of the kind that a configuration names.
    private static func target(like file: URL) async -> Result<Target, MoveError> {
        do {
            var configuration = try OpenEnd.configuration(file)
            configuration.stateFolder = nil
            let kind = configuration.selection.provider(for: .storage) ?? .mock
            configuration.selection = InfrastructureSelection(default: kind)
            let stopServer: @Sendable () async -> Void
            switch kind {
            case .firebase:
                let server = try LocalFirebase()
                stopServer = { await server.stop() }
                let given = try configuration.settings(of: FirebaseModule.self)
                try configuration.setUp(
                    FirebaseModule.self, with: LocalBackends.settings(of: server, bucket: given?.bucket ?? "files"))
            case .supabase:
                let given = try configuration.settings(of: SupabaseModule.self)
                var options = LocalSupabaseOptions()
                options.scripts = [DocumentSchema.sql]
                options.buckets = [given?.bucket ?? "files"]
                let server = try await LocalSupabase(options)
                stopServer = { await server.stop() }
                try configuration.setUp(
                    SupabaseModule.self, with: LocalBackends.settings(of: server, bucket: given?.bucket ?? "files"))
            default:
                stopServer = {}
                try configuration.setUp(MockModule.self, with: MockConfiguration())
                configuration.selection = InfrastructureSelection(default: .mock)
            }
            do {
                let backend = try await InfrastructureFactory(configurable: Providers.all).make(configuration)
                return .success(
                    Target(
                        kind: kind.rawValue, backend: backend,
                        stop: {
                            await backend.shutDown()
                            await stopServer()
                        }))
            } catch {
                await stopServer()
                throw error
            }
        } catch {
            let text = (error as? any ClientError)?.message ?? "\(error)"
            return .failure(
                MoveError(
                    .unavailable, "The local server for the rehearsal cannot be started: \(text)", underlying: error))
        }
    }
}
