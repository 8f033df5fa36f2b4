package import Switchyard
import Synchronization

/// Very many callers of one server at once: each writes a document of its own and reads it, some come with a token that has run
/// out and then with a new one, and some leave in the middle.
package struct Crowd: Sendable {
    /// What happened to those who stayed.
    package struct Outcome: Sendable {
        package var served = 0
        /// Who was refused with an old token, and was let in with a new one.
        package var renewed = 0
        /// Who got what is somebody else's, or was let in where no one should be.
        package var mixedUp: [String] = []
        package var failures: [String] = []
    }

    private final class Tally: Sendable {
        let outcome = Mutex(Outcome())
    }

    private let count: Int
    private let hasOldTokens: Bool
    private let triesOthers: Bool
    private let caller: @Sendable (_ number: Int, _ isOld: Bool) -> VerifiedToken

    /// - Parameters:
    ///   - hasOldTokens: Whether the backend refuses tokens that have run out.
    ///   - triesOthers: Whether it is the backend's to refuse documents of others.
    ///   - caller: Who has this number, with a token that has run out where `isOld`.
    package init(
        _ count: Int, hasOldTokens: Bool = true, triesOthers: Bool = true,
        caller: @escaping @Sendable (_ number: Int, _ isOld: Bool) -> VerifiedToken
    ) {
        self.count = count
        self.hasOldTokens = hasOldTokens
        self.triesOthers = triesOthers
        self.caller = caller
    }

    /// Every seventh leaves.
    private func leaves(_ number: Int) -> Bool { number.isMultiple(of: 7) }
    /// Every fifth has an old token at first.
    private func comesLate(_ number: Int) -> Bool { hasOldTokens && number.isMultiple(of: 5) }

    package var staying: Int { (0..<count).filter { !leaves($0) }.count }
    package var renewing: Int { (0..<count).filter { !leaves($0) && comesLate($0) }.count }

    /// All of them are there before the first one asks for anything.
    package func ask(_ backend: Infrastructure) async throws -> Outcome {
        let clients = try await withThrowingTaskGroup(of: (Int, ActingClients).self) { group in
            for number in 0..<count {
                let first = caller(number, comesLate(number))
                group.addTask { (number, try await backend.acting(as: first)) }
            }
            return try await group.reduce(into: [(Int, ActingClients)]()) { $0.append($1) }
        }
        let tally = Tally()
        await withTaskGroup(of: Void.self) { group in
            for (number, client) in clients {
                group.addTask {
                    let work = Task { try await serve(number, client, backend, tally) }
                    if leaves(number) { work.cancel() }
                    let result = await work.result
                    guard !leaves(number) else { return }
                    tally.outcome.withLock { outcome in
                        switch result {
                        case .success: outcome.served += 1
                        case .failure(let error): outcome.failures.append("\(number): \(error)")
                        }
                    }
                }
            }
        }
        return tally.outcome.withLock { $0 }
    }

    private func serve(
        _ number: Int, _ first: ActingClients, _ backend: Infrastructure, _ tally: Tally
    ) async throws {
        let path = try document(of: number)
        var mine = first
        if comesLate(number) {
            do throws(StorageError) {
                _ = try await first.storage.document(path)
                tally.outcome.withLock { $0.mixedUp.append("\(number) was let in with an old token") }
            } catch {
                guard error.code == .unauthenticated else { throw error }
            }
            mine = try await backend.acting(as: caller(number, false))
        }
        let user = mine.caller.userID
        _ = try await mine.storage.setDocument(path, ["owner": .of(user), "n": .of(number)])
        let read = try await mine.storage.document(path)
        if read["n"] != .integer(Int64(number)) {
            tally.outcome.withLock { $0.mixedUp.append("\(number) has read \(String(describing: read["n"]))") }
        }
        if triesOthers { try await tryOthers(number, mine.storage, tally) }
        if comesLate(number), !leaves(number) { tally.outcome.withLock { $0.renewed += 1 } }
    }

    private func tryOthers(_ number: Int, _ storage: any StorageClient, _ tally: Tally) async throws {
        let other = try document(of: (number + 1) % count)
        let refusals: Set<ErrorCode> = [.unauthorized, .notFound]
        do throws(StorageError) {
            if try await storage.document(other).exists {
                tally.outcome.withLock { $0.mixedUp.append("\(number) has read what is the next one's") }
            }
        } catch {
            guard refusals.contains(error.code) else { throw error }
        }
        do throws(StorageError) {
            try await storage.setDocument(other, ["owner": "missing"])
            tally.outcome.withLock { $0.mixedUp.append("\(number) has written what is the next one's") }
        } catch {
            guard refusals.contains(error.code) else { throw error }
        }
    }

    private func document(of number: Int) throws -> StoragePath {
        try StoragePath(validating: "users/\(caller(number, false).userID)/notes/a")
    }
}
