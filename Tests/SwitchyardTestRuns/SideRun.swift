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
/// The body belongs to no test: it has to throw what is wrong, since an expectation in it would be nobody's.
package final class SideRun<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Piece {
        var outcome: Result<Value, any Error>?
        var waiting: [CheckedContinuation<Value, any Error>] = []
    }

    private let keys: [Key]
    private let body: @Sendable (Key) async throws -> Value
    private let pieces: Mutex<[Key: Piece]>

    package init(_ keys: some Sequence<Key>, body: @escaping @Sendable (Key) async throws -> Value) {
        self.keys = Array(keys)
        self.body = body
        pieces = Mutex(Dictionary(self.keys.map { ($0, Piece()) }) { first, _ in first })
    }

    /// Enters the run into the lane; a second time does nothing.
    ///
    /// - Parameter place: The file of its test.
    package func begin(at place: String) {
        SideLane.shared.enter(
            self, at: place,
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

    /// What came of one piece, once it is done. Nobody else's pieces come before it any more.
    package func value(of key: Key) async throws -> Value {
        begin(at: "")
        return try await SideLane.shared.lend(for: self) {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = pieces.withLock { pieces -> Result<Value, any Error>? in
                    guard var piece = pieces[key] else { return .failure(UnknownPiece(name: "\(key)")) }
                    if let outcome = piece.outcome { return outcome }
                    piece.waiting.append(continuation)
                    pieces[key] = piece
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

struct UnknownPiece: Error, CustomStringConvertible {
    let name: String
    var description: String { "no piece of this run is called “\(name)”" }
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

/// Begins a run before the first test, if its own test is among those that will run.
package struct SideRunTrait: TestTrait {
    fileprivate let begin: @Sendable (_ place: String) -> Void

    package func prepare(for test: Test) async throws { begin(test.sourceLocation.fileID) }
}

extension Trait where Self == SideRunTrait {
    package static func beside<Key, Value>(_ run: SideRun<Key, Value>) -> SideRunTrait {
        SideRunTrait { run.begin(at: $0) }
    }
}
