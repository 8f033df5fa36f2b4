import Switchyard
import SwitchyardBytes
import Synchronization

/// Checks that the database has what calls need. The check runs before the first call, and before each further call until it
/// succeeds.
final class SchemaCheck: Sendable {
    /// The schema version that has everything needed.
    private let needed: Int
    /// The version found; 0 until the check has succeeded.
    private let version = Atomic(0)

    init(needed: Int) { self.needed = needed }

    /// Makes the next call check again.
    func close() { version.store(0, ordering: .relaxed) }

    /// - Returns: The version of the functions in the database.
    @discardableResult
    func pass(_ service: PostgRESTService) async throws(StorageError) -> Int {
        let known = version.load(ordering: .relaxed)
        if known > 0 { return known }
        let answer: JSON
        do throws(StorageError) {
            answer = try await service.send("switchyard_schema", [:], isIdempotent: true)
        } catch {
            guard (error.underlying as? PostgRESTFailure)?.isAboutMissingFunction == true else { throw error }
            throw StorageError(.missing)
        }
        // In the first version, the answer was a number.
        guard let found = answer["version"]?.int64 ?? answer.int64, let found = Int(exactly: found) else {
            throw .unreadableAnswer
        }
        let serves = answer["serves"]?.int64 ?? 1
        if serves > DocumentSchema.version { throw StorageError(.tooNew(version: found)) }
        if found < needed { throw StorageError(.tooOld(version: found, needed: needed)) }
        version.store(found, ordering: .relaxed)
        return found
    }
}

extension StorageError {
    init(_ problem: SupabaseSchemaProblem) {
        self.init(.failedPrecondition, problem.message, isRetryable: false, underlying: problem)
    }
}
