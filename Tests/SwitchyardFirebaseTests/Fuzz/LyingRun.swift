import Foundation
import Switchyard
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase

/// What the runs against a lying server have in common: their seeds, and that no call outlasts its deadline.
///
/// `SWITCHYARD_RANDOM=10` makes ten times as many runs, `SWITCHYARD_FUZZ_SEED=7` that one only.
struct LyingRun {
    let seed: UInt64
    let transport: LyingTransport
    let clock = HurriedClock()
    var random: SeededGenerator

    /// The longest that a client waits for anything is ten minutes, which this clock makes less than a second of; the rest is for
    /// machines that do much else.
    private static let patience = Duration.seconds(30)

    init(_ seed: UInt64) {
        self.seed = seed
        transport = LyingTransport(seed: seed &+ 1_000_000, clock: clock)
        random = SeededGenerator(seed: seed)
    }

    private static let named = ProcessInfo.processInfo.environment["SWITCHYARD_FUZZ_SEED"].flatMap { UInt64($0) }

    /// Whether there is one seed only, which need not reach everything.
    static var isSingle: Bool { named != nil }

    static func seeds(_ usual: Int) -> [UInt64] {
        named.map { [$0] } ?? (0..<UInt64(RandomRun.rounds(usual))).map { $0 }
    }

    /// A call that may fail, but only by an error of its service that says something and gives nothing away, and in time.
    func call<Failure: Error>(
        _ name: String, _ body: @escaping @Sendable () async throws(Failure) -> Void
    ) async {
        let box = Outcome<Failure>()
        let task = Task {
            do throws(Failure) {
                try await body()
                box.end(.success(()))
            } catch {
                box.end(.failure(error))
            }
        }
        do {
            try await eventually("\(name) ends", within: Self.patience) { box.outcome != nil }
        } catch {
            Issue.record("seed \(seed): \(error)")
            task.cancel()
        }
        guard case .failure(let error)? = box.outcome else { return }
        #expect(!"\(error)".contains(Self.secret), "seed \(seed): \(name) gives a secret away")
    }

    static let secret = "s3cr3t"

    private final class Outcome<Failure: Error>: Sendable {
        private let state = Mutex<Result<Void, Failure>?>(nil)
        var outcome: Result<Void, Failure>? { state.withLock { $0 } }
        func end(_ result: Result<Void, Failure>) { state.withLock { $0 = result } }
    }
}
