import Foundation
import SwitchyardWire
import Synchronization

/// What the runs against a lying server have in common: their seeds, and that no call outlasts its deadline.
///
/// `SWITCHYARD_RANDOM=10` makes ten times as many runs as a full run, `SWITCHYARD_FUZZ_SEED=7` that one only.
package struct LyingRun {
    package let seed: UInt64
    package let transport: LyingTransport
    package let clock: HurriedClock
    package var random: SeededGenerator
    private let complain: @Sendable (String) -> Void

    /// The longest that a client waits for anything is ten minutes, which this clock makes a few seconds of at most; the rest is
    /// for machines that do much else.
    private static let patience = Duration.seconds(30)

    /// - Parameters:
    ///   - speed: How many times as fast as others the clock goes.
    ///   - complain: Called with what is wrong, the seed included.
    package init(
        _ seed: UInt64, _ service: LyingTransport.Service, speed: Int = 1000,
        complain: @escaping @Sendable (String) -> Void
    ) {
        self.seed = seed
        self.complain = complain
        clock = HurriedClock(factor: speed)
        transport = LyingTransport(service, seed: seed &+ 1_000_000, clock: clock)
        random = SeededGenerator(seed: seed)
    }

    private static let named = ProcessInfo.processInfo.environment["SWITCHYARD_FUZZ_SEED"].flatMap { UInt64($0) }

    /// Whether there are so few seeds that they need not reach everything.
    package static var isPart: Bool { named != nil || RandomRun.isPart }

    package static func seeds(_ usual: Int) -> [UInt64] {
        named.map { [$0] } ?? (0..<UInt64(RandomRun.rounds(usual))).map { $0 }
    }

    /// A call that may fail, but only by an error of its service that says something and gives nothing away, and in time.
    package func call<Failure: Error>(
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
            complain("seed \(seed): \(error)")
            task.cancel()
        }
        guard case .failure(let error)? = box.outcome else { return }
        if "\(error)".contains(Self.secret) { complain("seed \(seed): \(name) gives a secret away") }
    }

    /// A call that has to succeed now that no one lies, though what was broken before may have to heal first.
    package func honestly<Failure: Error>(
        _ name: String, _ body: @escaping @Sendable () async throws(Failure) -> Bool
    ) async {
        transport.becomeHonest()
        let last = Mutex("it never ended")
        let task = Task {
            while !Task.isCancelled {
                do throws(Failure) {
                    if try await body() { return last.withLock { $0 = "" } }
                    last.withLock { $0 = "the answer is wrong" }
                } catch {
                    last.withLock { $0 = "\(error)" }
                }
                await Task.yield()
            }
        }
        do {
            try await eventually("\(name) succeeds", within: Self.patience) { last.withLock { $0.isEmpty } }
        } catch {
            complain("seed \(seed): \(error): \(last.withLock { $0 })")
        }
        task.cancel()
    }

    package static let secret = "s3cr3t"

    private final class Outcome<Failure: Error>: Sendable {
        private let state = Mutex<Result<Void, Failure>?>(nil)
        var outcome: Result<Void, Failure>? { state.withLock { $0 } }
        func end(_ result: Result<Void, Failure>) { state.withLock { $0 = result } }
    }
}
