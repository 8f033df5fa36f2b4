import Synchronization
package import Testing

/// Work whose results a test reports case by case, and which is done beside the tests before it.
///
/// ```swift
/// static let run = SideRun(1...200) { seed in try await schedule(seed) }
///
/// @Test(.beside(run), arguments: 1...200)
/// func `Every schedule ends in the truth`(seed: Int) async throws { try await Self.run.value(of: seed) }
/// ```
///
/// What the body throws is thrown in the test that asks for its value. An expectation in it that is not met fails the run, at
/// its place in the source but under no test's name.
package final class SideRun<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Piece {
        var outcome: Result<Value, any Error>?
        var waiting: [CheckedContinuation<Value, any Error>] = []
    }

    private let keys: [Key]
    private let width: Int
    private let lane: SideLane
    private let body: @Sendable (Key) async throws -> Value
    private let pieces: Mutex<[Key: Piece]>
    /// Known here and not by the lane: another run may have had the same place in memory before.
    private let isEntered = Atomic(false)

    /// - Parameter width: How many pieces may be under way at once.
    package convenience init(
        _ keys: some Sequence<Key>, width: Int = .max, body: @escaping @Sendable (Key) async throws -> Value
    ) {
        self.init(keys, width: width, in: .shared, body: body)
    }

    init(
        _ keys: some Sequence<Key>, width: Int, in lane: SideLane, body: @escaping @Sendable (Key) async throws -> Value
    ) {
        self.keys = Array(keys)
        self.width = width
        self.lane = lane
        self.body = body
        pieces = Mutex(Dictionary(self.keys.map { ($0, Piece()) }) { first, _ in first })
    }

    /// Enters the run into its lane; a second time does nothing.
    ///
    /// - Parameter place: The file of its test.
    package func begin(at place: String) {
        guard !isEntered.exchange(true, ordering: .relaxed) else { return }
        lane.enter(
            self, at: place, width: width,
            keys.map { key in
                { [self] in
                    do {
                        end(key, .success(try await body(key)))
                    } catch {
                        end(key, .failure(error))
                    }
                }
            })
    }

    /// What came of one piece, once it is done. No one else's pieces come before it any more.
    package func value(of key: Key) async throws -> Value {
        begin(at: "")
        lane.open()
        guard pieces.withLock({ $0[key] != nil }) else { throw UnknownPiece(name: "\(key)") }
        return try await lane.lend(for: self) {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = pieces.withLock { pieces -> Result<Value, any Error>? in
                    if let outcome = pieces[key]?.outcome { return outcome }
                    pieces[key]?.waiting.append(continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        }
    }

    private func end(_ key: Key, _ outcome: Result<Value, any Error>) {
        let waiting = pieces.withLock { pieces in
            let waiting = pieces[key]?.waiting ?? []
            pieces[key] = Piece(outcome: outcome)
            return waiting
        }
        for continuation in waiting { continuation.resume(with: outcome) }
    }
}

package struct UnknownPiece: Error, CustomStringConvertible {
    package let name: String
    package var description: String { "no piece of this run is called “\(name)”" }
}

extension SideRun where Key == Int {
    /// One piece of work.
    package convenience init(_ body: @escaping @Sendable () async throws -> Value) {
        self.init(0...0) { _ in try await body() }
    }

    package var value: Value {
        get async throws { try await value(of: 0) }
    }
}

/// Enters a run before the first test, if its own test is among those that will run, and begins all runs with the first such
/// test. What may skip the test has to stand before it.
package struct SideRunTrait: TestTrait, TestScoping {
    fileprivate let begin: @Sendable (_ place: String) -> Void

    package func prepare(for test: Test) async throws { begin(test.sourceLocation.fileID) }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        SideLane.shared.open()
        try await function()
    }
}

extension Trait where Self == SideRunTrait {
    package static func beside<Key, Value>(_ run: SideRun<Key, Value>) -> SideRunTrait {
        SideRunTrait { run.begin(at: $0) }
    }
}
