import Foundation
import Switchyard
import SwitchyardMove

/// One command with both of its ends.
struct MoveSession {
    let command: MoveCommand

    init(_ command: MoveCommand) { self.command = command }

    func run() async throws(MoveError) -> ExitStatus {
        let hashes = try command.hashes.map { (file) throws(MoveError) in try PasswordHashes.read(file) } ?? [:]
        let from = try await OpenEnd(command.from, creates: false, hashes: hashes)
        let to: OpenEnd
        do throws(MoveError) { to = try await OpenEnd(command.to, creates: true) } catch {
            await from.close()
            throw error
        }
        let move = Move(from: from.end, to: to.end, options: command.options)
        let outcome = await outcome(of: move)
        await from.close()
        await to.close()
        return try outcome.get()
    }

    private func outcome(of move: Move) async -> Result<ExitStatus, MoveError> {
        do throws(MoveError) {
            let plan = try await plan(for: move)
            switch command.work {
            case .plan: return .success(show(plan, asText: plan.description, .success))
            case .run, .export, .import: return .success(try await copy(move, plan))
            case .verify:
                let verification = try await move.verify(plan, journal: command.journal, repairs: command.repairs)
                let isFine = verification.isEqual || (command.repairs && verification.isRepaired)
                return .success(show(verification, asText: verification.description, isFine ? .success : .failure))
            }
        } catch {
            return .failure(error)
        }
    }

    /// The plan that is given, else that of the run which began with this journal, else a new one.
    private func plan(for move: Move) async throws(MoveError) -> MovePlan {
        let earlier = command.work.copies ? savedPlan : nil
        let isSaved = earlier.map { FileManager.default.fileExists(atPath: $0.path) } ?? false
        guard let file = command.plan ?? (isSaved ? earlier : nil) else { return try await move.plan() }
        do {
            return try JSONDecoder().decode(MovePlan.self, from: Data(contentsOf: file))
        } catch {
            throw MoveError(
                .localStore,
                "“\(file.path)” is not a plan. Make one with “switchyard move plan … --json > \(file.path)”.")
        }
    }

    private var savedPlan: URL? { command.journal?.appendingPathComponent("plan.json") }

    private func copy(_ move: Move, _ plan: MovePlan) async throws(MoveError) -> ExitStatus {
        guard let journal = command.journal else { throw MoveError(.invalidArgument, "There is no journal.") }
        let throttle = MoveThrottle(command.throttle, rampFrom: command.rampFrom)
        let run = try move.run(plan, journal: journal, throttle: throttle)
        if let savedPlan, let json = try? Self.encoder.encode(plan) { try? json.write(to: savedPlan, options: .atomic) }
        let end = EndRequest()
        let stopper = Task {
            await end.wait()
            run.cancel()
        }
        defer { stopper.cancel() }
        let report = try await run.resultShowingProgress()
        return show(report, asText: report.description, report.rejections.isEmpty ? .success : .failure)
    }

    private func show(_ value: some Encodable, asText text: String, _ status: ExitStatus) -> ExitStatus {
        if command.isJSON, let json = try? Self.encoder.encode(value) {
            Terminal.print(String(decoding: json, as: UTF8.self))
        } else {
            Terminal.print(text)
        }
        return status
    }

    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

extension MoveRun {
    /// The result; until it is there, a line on a terminal shows the progress.
    func resultShowingProgress() async throws(MoveError) -> MoveReport {
        let line = ProgressLine()
        let watcher = Task { for await progress in progress { line.show(progress.description) } }
        let result: Result<MoveReport, MoveError>
        do throws(MoveError) { result = .success(try await self.result()) } catch { result = .failure(error) }
        await watcher.value
        line.clear()
        return try result.get()
    }
}

/// A line at the bottom of a terminal that shows the newest state. Elsewhere it shows nothing.
struct ProgressLine {
    private let isTerminal = isatty(2) == 1

    func show(_ text: String) { write("\r\u{1B}[K\(text)") }
    func clear() { write("\r\u{1B}[K") }

    private func write(_ text: String) {
        if isTerminal { Terminal.errorWithoutBreak(text) }
    }
}
