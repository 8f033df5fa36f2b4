import Foundation
import Switchyard
import SwitchyardMove

/// `switchyard move start`, and what is asked of a move that runs: `status`, `to`, `back`, `pause`, `resume`, `throttle` and
/// `abort`.
struct LiveMoveCommand: ToolCommand {
    enum Work: String, CaseIterable {
        case start, status, to, back, pause, resume, throttle, compare, abort
    }

    private let work: Work
    private let from: URL
    private let to: URL
    private let name: String
    private let journal: URL
    private let options: MoveOptions
    private let deletesExtras: Bool
    private let linger: Int
    private let isJSON: Bool
    /// How long a command waits for what it has asked for.
    private let patience: Int
    private var phase: MovePhase?
    private var limit: Int?
    private var part = 0.0

    init(_ words: [String]) throws(UsageError) {
        guard let work = words.first.flatMap(Work.init) else { throw UsageError("missing subcommand of “move”") }
        self.work = work
        let given = try Options(Array(words.dropFirst()), of: Commands.named("move \(work.rawValue)"))
        from = try MovePlace.configuration(given, "--from", for: work.rawValue)
        to = try MovePlace.configuration(given, "--to", for: work.rawValue)
        name = given["--name"] ?? "default"
        if work == .start, given["--journal"] == nil {
            throw UsageError("“move start” needs “--journal FOLDER”, from which a later start continues")
        }
        journal = URL(fileURLWithPath: given["--journal"] ?? ".", isDirectory: true)
        var options = MoveOptions()
        options.collections = given["--collections"]?.split(separator: ",").map(String.init) ?? []
        options.sample = nil
        self.options = options
        deletesExtras = given.has("--delete-extras")
        linger = try given.number("--linger", from: 0) ?? 60
        isJSON = given.has("--json")
        patience = try given.number("--wait", from: 0) ?? 60
        switch work {
        case .to:
            let names = MovePhase.allCases.map(\.rawValue).filter { $0 != "copy" }
            guard let phase = MovePhase(rawValue: given.arguments[0]), phase != .copy else {
                throw UsageError.unknown("phase", given.arguments[0], among: names)
            }
            self.phase = phase
        case .throttle:
            guard given.arguments[0] != "none" else { break }
            guard let limit = Int(given.arguments[0]), limit > 0 else {
                throw UsageError("“\(given.arguments[0])” is no number of documents per second; it may also be “none”")
            }
            self.limit = limit
        case .compare:
            guard let percent = Double(given.arguments[0]), (0...100).contains(percent) else {
                throw UsageError("“\(given.arguments[0])” is not a part of all reads in percent")
            }
            part = percent / 100
        case .start, .status, .back, .pause, .resume, .abort: break
        }
    }

    func run() async -> ExitStatus {
        do throws(MoveError) {
            let (from, old) = try await OpenEnd.backend(from)
            let outcome = await Interruptible.run { await opened(from) }
            await old.shutDown()
            return outcome.isInterrupted && work != .start ? .interrupted : try outcome.result.get()
        } catch {
            return fail(error)
        }
    }

    private func fail(_ error: MoveError) -> ExitStatus {
        Terminal.error("switchyard move \(work.rawValue): \(error.message)")
        if error.code == .cancelled || error.isRetryable { Terminal.error("The same command continues.") }
        return error.code == .cancelled ? .interrupted : .failure
    }

    private func opened(_ from: BackendEnd) async -> Result<ExitStatus, MoveError> {
        do throws(MoveError) {
            let (to, new) = try await OpenEnd.backend(to)
            let outcome: Result<ExitStatus, MoveError>
            do throws(MoveError) {
                var live = try LiveMove(from: from, to: to, name: name, journal: journal, options: options)
                live.deletesExtras = deletesExtras
                live.quietPeriod = .seconds(linger)
                outcome = .success(try await work(on: live))
            } catch {
                outcome = .failure(error)
            }
            await new.shutDown()
            return outcome
        } catch {
            return .failure(error)
        }
    }

    private func work(on live: LiveMove) async throws(MoveError) -> ExitStatus {
        switch work {
        case .start: return try await start(live)
        case .status: break
        case .pause: try await live.pause()
        case .resume: try await live.resume()
        case .throttle: try await live.throttle(limit)
        case .compare: try await live.compareReads(part)
        case .to: if let phase { return try await reach(phase, live) }
        case .back: return try await reach(try await live.goBack(), live)
        case .abort: return try await reach(.idle, live)
        }
        show(try await live.status())
        return .success
    }

    /// Shows how the move stands, also if the phase is not reached in time.
    private func reach(_ phase: MovePhase, _ live: LiveMove) async throws(MoveError) -> ExitStatus {
        do throws(MoveError) {
            try await live.reach(phase, within: .seconds(patience))
        } catch {
            if error.code == .deadlineExceeded { show(try await live.status()) }
            throw error
        }
        show(try await live.status())
        return .success
    }

    private func start(_ live: LiveMove) async throws(MoveError) -> ExitStatus {
        let line = ProgressLine()
        let isTerminal = Terminal.isTerminal(2)
        try await live.run { status in
            let text = "\(status.phase.rawValue): \(status.problem ?? status.activity ?? "carrying")"
            if isTerminal { line.show(text) } else { Terminal.error(text) }
        }
        line.clear()
        show(try await live.status())
        return .success
    }

    private func show(_ status: LiveMoveStatus) {
        if isJSON, let json = try? MoveSession.encoder.encode(status) {
            Terminal.print(String(decoding: json, as: UTF8.self))
        } else {
            Terminal.print(status.description)
        }
    }
}

/// `switchyard move …`
struct MoveFamilyCommand: ToolCommand {
    private let command: any ToolCommand

    init(_ words: [String]) throws(UsageError) {
        let names = Commands.group("move").compactMap(\.subcommand)
        guard let name = words.first else {
            throw UsageError("missing subcommand: \(names.map { "“move \($0)”" }.joined(separator: ", "))")
        }
        guard names.contains(name) else { throw UsageError.unknown("“move” subcommand", name, among: names) }
        if LiveMoveCommand.Work(rawValue: name) != nil {
            command = try LiveMoveCommand(words)
        } else if name == "rehearse" {
            command = try RehearseCommand(words)
        } else {
            command = try MoveCommand(words)
        }
    }

    func run() async -> ExitStatus { await command.run() }
}
