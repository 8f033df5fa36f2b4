import Switchyard
import SwitchyardBytes
import Synchronization

/// Checks that the database has what calls need. The check runs before the first call, and before each further call until it
/// succeeds.
final class SchemaGate: Sendable {
    /// The schema version that has everything needed.
    private let needed: Int
    private let isOpen = Atomic(false)

    init(needed: Int) { self.needed = needed }

    /// Makes the next call check again.
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
        // In the first version, the answer was a number.
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
