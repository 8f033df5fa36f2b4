import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardTestSupport
import Testing

@Suite struct UploadMachineTests {
    static let session = UploadSession(address: "s", granularity: 10, owner: UploadSession.noUser)
    static let finished = StoredFile(FileMetadata(path: "f", size: 100, contentType: "text/plain"))
    static let lost = FileStorageError(.unavailable, "Lost.")
    static let refused = FileStorageError(.unauthorized, "Refused.")

    /// A machine with its clock and its dice, and what it says as text.
    struct Bench {
        var machine: UploadMachine
        var now = ContinuousClock.now
        var generator = SeededGenerator(seed: 1)

        init(
            length: Int64? = 100, canRewind: Bool = true, isKept: Bool = true, wholeLimit: Int64 = 0,
            parts: ClosedRange<Int64> = 20...80, resuming offset: Int64? = nil, patience: Duration? = nil
        ) {
            var policy = TransferPolicy(
                firstPart: parts.lowerBound, largestPart: parts.upperBound, wholeLimit: wholeLimit)
            policy.backoff.jitter = 0
            if let patience { policy.patience = patience }
            machine = UploadMachine(
                policy, UploadMachine.Content(length: length, canRewind: canRewind, isKept: isKept),
                resuming: offset.map { (UploadMachineTests.session, $0) }, now: now)
        }

        /// Handles all events and returns the actions of the last.
        mutating func send(_ events: UploadMachine.Event..., after pause: Duration = .zero) -> String {
            now += pause
            var said: [UploadMachine.Action] = []
            for event in events { said = machine.handle(event, now: now, using: &generator) }
            return said.map(Self.text).joined(separator: ", ")
        }

        private static func text(_ action: UploadMachine.Action) -> String {
            switch action {
            case .prepare(let offset, let count): "prepare \(offset)+\(count)"
            case .store(let count): "store \(count)"
            case .begin: "begin"
            case .send(let offset, let count, let isLast, _): "send \(offset)+\(count)\(isLast ? " last" : "")"
            case .ask: "ask"
            case .wait(let pause): "wait \(pause.components.seconds)"
            case .stop: "stop"
            case .keep(_, let offset): "keep \(offset)"
            case .forget: "forget"
            case .abandon: "abandon"
            case .show(let phase, let completed): "\(phase) \(completed)"
            case .succeed: "succeed"
            case .fail(let error): "fail \(error.code)"
            }
        }

        /// Brings it to where the first part of twenty bytes is being sent.
        mutating func beginSending() { _ = send(.start, .prepared(count: 20, isEnd: false), .began(session)) }
    }

    @Test func `A large upload goes in parts that grow, and says where it is`() {
        var bench = Bench()
        #expect(bench.send(.start) == "running 0, prepare 0+20")
        #expect(bench.send(.prepared(count: 20, isEnd: false)) == "begin")
        #expect(bench.send(.began(Self.session)) == "keep 0, send 0+20")
        #expect(bench.send(.answered(.active(offset: 20))) == "keep 20, running 20, prepare 20+40")
        #expect(bench.send(.prepared(count: 40, isEnd: false)) == "send 20+40")
        #expect(bench.send(.answered(.active(offset: 60))) == "keep 60, running 60, prepare 60+80")
        #expect(bench.send(.prepared(count: 40, isEnd: true)) == "send 60+40 last")
        #expect(bench.send(.answered(.finished(Self.finished))) == "forget, finished 100, succeed")
        #expect(bench.machine.isOver)
        #expect(bench.send(.cancel) == "")
    }

    @Test func `Parts of a fixed size stay as they are`() {
        var bench = Bench(parts: 20...20)
        bench.beginSending()
        #expect(bench.send(.answered(.active(offset: 20))) == "keep 20, running 20, prepare 20+20")
    }

    @Test func `Small contents go in one request, and are sent again when the answer is lost`() {
        var bench = Bench(length: 15, wholeLimit: 50)
        #expect(bench.send(.start) == "running 0, prepare 0+50")
        #expect(bench.send(.prepared(count: 15, isEnd: true)) == "store 15")
        #expect(bench.send(.failed(Self.lost)) == "wait 0")
        #expect(bench.send(.waited) == "store 15")
        #expect(bench.send(.answered(.finished(Self.finished))) == "forget, finished 100, succeed")
    }

    @Test func `A stream that is longer than one request takes a session`() {
        var bench = Bench(length: nil, canRewind: false, wholeLimit: 50)
        #expect(bench.send(.start, .prepared(count: 50, isEnd: false)) == "begin")
        #expect(bench.send(.began(Self.session)) == "keep 0, send 0+20")
    }

    @Test func `The server is asked before anything is sent again, and small parts follow`() {
        var bench = Bench()
        bench.beginSending()
        _ = bench.send(.answered(.active(offset: 20)), .prepared(count: 40, isEnd: false))
        #expect(bench.send(.failed(Self.lost)) == "wait 0")
        #expect(bench.send(.waited) == "ask")
        #expect(bench.send(.failed(Self.lost)) == "wait 1")
        #expect(bench.send(.waited) == "ask")
        #expect(bench.send(.answered(.active(offset: 50))) == "keep 50, running 50, prepare 50+20")
    }

    @Test func `A lost answer to the last part is found out, not sent again`() {
        var bench = Bench(length: 20)
        _ = bench.send(.start, .prepared(count: 20, isEnd: true), .began(Self.session))
        #expect(bench.send(.failed(Self.lost)) == "wait 0")
        #expect(bench.send(.waited) == "ask")
        #expect(bench.send(.answered(.finished(Self.finished))) == "forget, finished 100, succeed")
    }

    @Test func `A server with everything but the end is sent the end`() {
        var bench = Bench()
        bench.beginSending()
        _ = bench.send(.failed(Self.lost), .waited)
        #expect(bench.send(.answered(.active(offset: 100))) == "keep 100, running 100, prepare 100+20")
        #expect(bench.send(.prepared(count: 0, isEnd: true)) == "send 100+0 last")
    }

    @Test func `A part is cut to what the server takes at once, but for the last`() {
        var bench = Bench(length: 57, parts: 25...25)
        #expect(bench.send(.start, .prepared(count: 25, isEnd: false)) == "begin")
        #expect(bench.send(.began(Self.session)) == "keep 0, send 0+20")
        #expect(bench.send(.answered(.active(offset: 20))) == "keep 20, running 20, prepare 20+20")
        _ = bench.send(.prepared(count: 20, isEnd: false), .answered(.active(offset: 40)))
        #expect(bench.send(.prepared(count: 17, isEnd: true)) == "send 40+17 last")
    }

    @Test func `A part smaller than what the server takes at once is made larger`() {
        var bench = Bench(parts: 5...80)
        _ = bench.send(.start, .prepared(count: 5, isEnd: false))
        #expect(bench.send(.began(Self.session)) == "keep 0, prepare 0+10")
        #expect(bench.send(.prepared(count: 10, isEnd: false)) == "send 0+10")
    }

    @Test func `A forgotten session is restarted, once`() {
        var bench = Bench()
        bench.beginSending()
        let expired = FileStorageError(.uploadExpired, "Gone.")
        #expect(bench.send(.failed(expired)) == "forget, prepare 0+20")
        #expect(bench.send(.prepared(count: 20, isEnd: false)) == "begin")
        _ = bench.send(.began(Self.session))
        #expect(bench.send(.failed(expired)) == "forget, abandon, fail uploadExpired")
    }

    @Test func `A forgotten session of earlier is its owner's to know`() {
        var bench = Bench(resuming: 40)
        #expect(bench.send(.start) == "running 40, ask")
        #expect(
            bench.send(.failed(FileStorageError(.uploadExpired, "Gone."))) == "forget, abandon, fail uploadExpired")
    }

    @Test func `What cannot be produced again is not restarted`() {
        var bench = Bench(length: nil, canRewind: false, isKept: false)
        bench.beginSending()
        _ = bench.send(.answered(.active(offset: 20)), .prepared(count: 20, isEnd: false))
        #expect(
            bench.send(.failed(FileStorageError(.uploadExpired, "Gone."))) == "forget, abandon, fail uploadExpired")
    }

    @Test func `A refusal ends it and leaves nothing behind`() {
        var bench = Bench()
        bench.beginSending()
        #expect(bench.send(.failed(Self.refused)) == "forget, abandon, fail unauthorized")
    }

    @Test(arguments: ["shutDown", "unauthenticated", "sessionChanged", "cancelled", "quotaExceeded", "http418"])
    func `What may pass leaves an upload that is written down to be resumed`(_ code: String) {
        let error = FileStorageError(FileStorageError.Code(rawValue: code), "Not now.", isRetryable: false)
        var bench = Bench()
        bench.beginSending()
        #expect(bench.send(.failed(error)) == "fail \(code)")
        var passing = Bench(isKept: false)
        passing.beginSending()
        #expect(passing.send(.failed(error)) == "forget, abandon, fail \(code)")
    }

    @Test func `A pause stops what is under way; the server is asked when it goes on`() {
        var bench = Bench()
        bench.beginSending()
        #expect(bench.send(.pause) == "paused 0, stop")
        #expect(bench.send(.pause) == "")
        #expect(bench.send(.resume) == "running 0, ask")
        #expect(bench.send(.answered(.active(offset: 10))) == "keep 10, running 10, prepare 10+20")
    }

    @Test func `A pause lets bytes come and a session open, but sends nothing`() {
        var bench = Bench()
        _ = bench.send(.start)
        #expect(bench.send(.pause) == "paused 0")
        #expect(bench.send(.prepared(count: 20, isEnd: false)) == "")
        #expect(bench.send(.resume) == "running 0, begin")
        #expect(bench.send(.pause) == "paused 0")
        #expect(bench.send(.began(Self.session)) == "keep 0")
        #expect(bench.send(.resume) == "running 0, send 0+20")
    }

    @Test func `A failure while it is paused waits for the resume`() {
        var bench = Bench()
        _ = bench.send(.start, .prepared(count: 20, isEnd: false), .pause)
        #expect(bench.send(.failed(Self.lost)) == "")
        #expect(bench.send(.resume) == "running 0, begin")
    }

    @Test func `It gives up when nothing has moved for long, and its record stays`() {
        var bench = Bench()
        bench.beginSending()
        _ = bench.send(.failed(Self.lost), .waited)
        #expect(bench.send(.failed(Self.lost), after: .seconds(599)) == "wait 0")
        _ = bench.send(.waited)
        #expect(bench.send(.failed(Self.lost), after: .seconds(1)) == "fail unavailable")
    }

    @Test func `It gives up and throws away what no one could go on with`() {
        var bench = Bench(isKept: false)
        bench.beginSending()
        #expect(bench.send(.failed(Self.lost), after: .seconds(600)) == "forget, abandon, fail unavailable")
    }

    @Test func `Time spent in a pause is no time without progress`() {
        var bench = Bench()
        bench.beginSending()
        _ = bench.send(.pause)
        #expect(bench.send(.resume, after: .seconds(10_000)) == "running 0, ask")
        #expect(bench.send(.failed(Self.lost)) == "wait 0")
    }

    @Test func `What arrived late displaces a part once: the server is asked at once, whatever patience there is`() {
        var bench = Bench(patience: .zero)
        bench.beginSending()
        #expect(bench.send(.answered(.displaced), after: .seconds(1)) == "ask")
        #expect(bench.send(.answered(.active(offset: 15))) == "keep 15, running 15, prepare 15+20")
        #expect(bench.send(.prepared(count: 20, isEnd: false)) == "send 15+20")
        #expect(bench.send(.answered(.displaced)) == "ask", "it has got on since")
        #expect(bench.send(.answered(.active(offset: 15))) == "keep 15, running 15, prepare 15+20")
        #expect(bench.send(.prepared(count: 20, isEnd: false)) == "send 15+20")
        #expect(bench.send(.answered(.displaced)).hasSuffix("fail unavailable"), "nothing has changed since then")
    }

    @Test func `A server's request to wait is obeyed`() {
        var bench = Bench()
        bench.beginSending()
        #expect(
            bench.send(.failed(FileStorageError(.rateLimited, "Slow.", retryAfter: .seconds(30)))) == "wait 30")
    }

    @Test func `A request to wait longer than there is patience ends it at once`() {
        var bench = Bench()
        bench.beginSending()
        let error = FileStorageError(.rateLimited, "Slow.", retryAfter: .seconds(86_400))
        #expect(bench.send(.failed(error)).hasSuffix("fail rateLimited"))
    }

    @Test func `Cancelling throws away what the server has; closing keeps it`() {
        var cancelled = Bench()
        cancelled.beginSending()
        #expect(cancelled.send(.cancel) == "stop, forget, abandon, fail cancelled")
        var closed = Bench()
        closed.beginSending()
        #expect(closed.send(.close) == "stop, fail shutDown")
    }

    @Test func `Other bytes than were announced end it`() {
        for (count, isEnd) in [(30, true), (101, false)] as [(Int64, Bool)] {
            var bench = Bench(length: 100, canRewind: false, isKept: false)
            _ = bench.send(.start)
            #expect(bench.send(.prepared(count: count, isEnd: isEnd)) == "fail changed")
        }
    }

    @Test func `A server that claims bytes it never got is not believed`() {
        var bench = Bench()
        bench.beginSending()
        #expect(bench.send(.answered(.active(offset: 21))) == "forget, abandon, fail unknown")
        var asked = Bench(resuming: 40)
        _ = asked.send(.start)
        #expect(asked.send(.answered(.active(offset: 101))) == "forget, abandon, fail unknown")
    }

    @Test func `A server that takes nothing is tried again with pauses, not for ever`() {
        var bench = Bench()
        bench.beginSending()
        #expect(bench.send(.answered(.active(offset: 0))) == "keep 0, running 0, wait 0")
        #expect(bench.send(.waited, .prepared(count: 20, isEnd: false)) == "send 0+20")
        #expect(
            bench.send(.answered(.active(offset: 0)), after: .seconds(600)) == "keep 0, running 0, fail unavailable")
    }

    @Test func `Bytes that arrived wrong are not sent once more by itself`() {
        var bench = Bench()
        bench.beginSending()
        #expect(
            bench.send(.failed(FileStorageError(.checksumMismatch, "Wrong.")))
                == "forget, abandon, fail checksumMismatch")
    }

    /// Whatever a server does at random, an upload ends, and ends right.
    @Test(arguments: 0..<20 as Range<UInt64>) func `Random faults never lead astray`(_ seed: UInt64) {
        var dice = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let length = Int64.random(in: 0...300, using: &dice)
            var bench = Bench(length: length, wholeLimit: [0, 50].randomElement(using: &dice)!)
            var received: Int64 = 0
            var isFinished = false
            var queue: [UploadMachine.Event] = [.start]
            var steps = 0
            while !bench.machine.isOver, steps < 2000 {
                steps += 1
                let event = queue.isEmpty ? UploadMachine.Event.resume : queue.removeFirst()
                bench.now += .seconds(Int.random(in: 0...3, using: &dice))
                for action in bench.machine.handle(event, now: bench.now, using: &bench.generator) {
                    let isLost = Int.random(in: 0..<4, using: &dice) == 0
                    switch action {
                    case .prepare(let offset, let count):
                        let end = min(offset + count, length)
                        queue = [.prepared(count: end - offset, isEnd: end == length)]
                    case .begin: queue = [isLost ? .failed(Self.lost) : .began(Self.session)]
                    case .store(let count):
                        #expect(count == length)
                        isFinished = true
                        queue = [isLost ? .failed(Self.lost) : .answered(.finished(Self.finished))]
                    case .send(let offset, let count, let isLast, _):
                        #expect(offset == received, "seed \(seed)")
                        #expect(isLast == (offset + count == length))
                        #expect(isLast || count % 10 == 0)
                        let taken = isLost ? Int64.random(in: 0...count, using: &dice) : count
                        received += taken
                        isFinished = isLast && taken == count
                        let answer: UploadMachine.Event =
                            isFinished ? .answered(.finished(Self.finished)) : .answered(.active(offset: received))
                        queue = [isLost ? .failed(Self.lost) : answer]
                    case .ask:
                        let answer: UploadMachine.Event =
                            isFinished ? .answered(.finished(Self.finished)) : .answered(.active(offset: received))
                        queue = [isLost ? .failed(Self.lost) : answer]
                    case .wait: queue = [.waited]
                    case .stop: queue = []
                    case .succeed: #expect(isFinished)
                    case .fail(let error): Issue.record("failed with \(error) at seed \(seed)")
                    case .keep(_, let offset): #expect(offset <= received)
                    case .forget, .abandon, .show: break
                    }
                }
                if Int.random(in: 0..<15, using: &dice) == 0 { queue.append(.pause) }
            }
            #expect(bench.machine.isOver, "seed \(seed)")
        }
    }
}
