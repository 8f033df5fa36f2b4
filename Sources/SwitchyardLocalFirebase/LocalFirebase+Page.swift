package import Switchyard
package import SwitchyardBytes
import SwitchyardFirestoreFormat
package import SwitchyardServerKit

/// What a page that shows this server needs of it.
extension LocalFirebase {
    /// Mails and text messages.
    package var sentCodes: SentMessages { auth.sent }
    package var sentPushes: SentMessages { messaging.sent }

    /// Deletes all accounts, documents, files, devices and messages, at once.
    package func reset() throws(LocalFirebaseError) {
        do throws(FirestoreFailure) { try firestore.reset() } catch {
            throw LocalFirebaseError("The documents cannot be deleted: \(error.message)")
        }
        do throws(AuthFailure) {
            try auth.perform { database throws(AuthFailure) in database = AccountDatabase() }
        } catch {
            throw LocalFirebaseError("The accounts cannot be deleted: \(error.message)")
        }
        auth.sent.removeAll()
        files.reset()
        do throws(MessagingFailure) { try messaging.reset() } catch {
            throw LocalFirebaseError("The devices cannot be forgotten: \(error.message)")
        }
    }

    /// An ID token for a user, who needs no account, with further claims.
    ///
    /// - Parameter factor: The kind of the second factor that the session is to have been signed in with.
    package func idToken(for userID: String, claims: JSONObject, factor: String? = nil) -> String {
        auth.idToken(for: userID, claims: claims, factor: factor)
    }

    /// What the rules say about a document as it is: whether a user may read it, and write `newData` there.
    ///
    /// - Parameter authorization: As in the header of that name; `nil` for no user.
    package func decisions(
        at path: StoragePath, authorization: String?, newData: DocumentData?
    ) throws(LocalTokenFailure) -> (read: [LocalDecision], write: [LocalDecision]) {
        let caller = try auth.caller(authorization: authorization)
        let documents = firestore.database(FirestoreDatabase(project: project, database: "(default)")).current()
            .documents
        let data = documents[path]?.data
        let rules = firestore.rules
        let reading = rules.decision(of: caller) {
            _ = rules.allow(.read, of: caller, at: path, data: data, in: documents)
        }
        let writing = rules.decision(of: caller) {
            let isAllowed = rules.allow(
                .write, of: caller, at: path, data: data, newData: newData ?? data ?? [:], in: documents)
            if isAllowed { _ = rules.allowOutcome(of: caller, at: path, in: documents) }
        }
        return (reading, writing)
    }

    /// What the rules say about a query.
    package func decisions(of query: Query, authorization: String?) throws(LocalTokenFailure) -> [LocalDecision] {
        let caller = try auth.caller(authorization: authorization)
        let documents = firestore.database(FirestoreDatabase(project: project, database: "(default)")).current()
            .documents
        let rules = firestore.rules
        return rules.decision(of: caller) { _ = rules.allow(query, of: caller, in: documents) }
    }

    /// Removes a second factor of an account.
    ///
    /// - Returns: Whether there was one.
    package func removeFactor(_ factor: String, of userID: String) -> Bool {
        let removed = try? auth.perform { database throws(AuthFailure) in
            guard let index = database.accounts[userID]?.factors.firstIndex(where: { $0.id == factor }) else {
                return false
            }
            database.accounts[userID]?.factors.remove(at: index)
            return true
        }
        return removed ?? false
    }
}

extension LocalRules {
    /// The decisions that are made meanwhile.
    fileprivate func decision(of caller: LocalCaller, _ body: () -> Void) -> [LocalDecision] {
        let record = ExchangeRecord()
        ExchangeRecord.$current.withValue(record) { body() }
        return record.state.notes.compactMap { $0 as? LocalDecision }
    }
}
