import Switchyard
import SwitchyardBytes
import Synchronization

/// Lets calls through once the database has said that it has what they need. It is asked at the first call, and by each
/// further one until the answer is good.
final class SchemaGate: Sendable {
    /// The version from which on everything is there that is called.
    private let needed: Int
    private let isOpen = Atomic(false)

    init(needed: Int) { self.needed = needed }

    /// Has the next call ask again.
    func close() { isOpen.store(false, ordering: .relaxed) }

    func pass(_ service: PostgRESTService) async throws(StorageError) {
        guard !isOpen.load(ordering: .relaxed) else { return }
        let answer: JSON
        do throws(StorageError) {
            answer = try await service.send("switchyard_schema", [:], isIdempotent: true)
        } catch {
            guard (error.underlying as? PostgRESTFailure)?.isAboutMissingFunction == true else { throw error }
            throw StorageError(.missing)
        }
        // In the first version it was a number.
        guard let version = answer["version"]?.int64 ?? answer.int64 else { throw .unreadableAnswer }
        let serves = answer["serves"]?.int64 ?? 1
        if serves > DocumentSchema.version { throw StorageError(.tooNew(version: Int(version))) }
        if version < needed { throw StorageError(.tooOld(version: Int(version), needed: needed)) }
        isOpen.store(true, ordering: .relaxed)
    }
}

extension StorageError {
    fileprivate init(_ problem: SupabaseSchemaProblem) {
        self.init(.failedPrecondition, problem.message, isRetryable: false, underlying: problem)
    }
}
