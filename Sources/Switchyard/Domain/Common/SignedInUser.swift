import SwitchyardBytes

/// The user whose data a domain client works on: that of the chosen auth client.
struct SignedInUser: Sendable {
    let auth: any AuthClient

    /// - Throws: `.unauthenticated` if no user is signed in. While the session is unknown, a different, retryable error: an
    ///   app that gets `.unauthenticated` asks for a password.
    func user() async throws(DomainError) -> AuthUser {
        switch await auth.state {
        case .signedIn(let user): return user
        case .signedOut, .expired: throw .noUser
        case .unknown, .locked: throw DomainError(AuthError.sessionLocked)
        }
    }

    /// - Throws: As ``user()``.
    func id() async throws(DomainError) -> AuthUser.ID { try await user().id }

    /// A stream for the user who is signed in when it starts.
    ///
    /// Waits while the session is not known yet; ends with `.unauthenticated` when that user is no longer signed in.
    func stream<Element: Sendable>(
        _ make: @escaping @Sendable (AuthUser.ID) throws(StorageError) -> SnapshotStream<Element, StorageError>
    ) -> SnapshotStream<Element, DomainError> {
        SnapshotStream { continuation in
            let inner = TaskBox()
            let outer = Task {
                var userID: AuthUser.ID?
                for await state in auth.authStateStream() {
                    switch state {
                    case .unknown, .locked: continue
                    case .signedOut, .expired:
                        continuation.finish(throwing: .noUser)
                        return
                    case .signedIn(let user):
                        if userID == user.id { continue }
                        guard userID == nil else {
                            continuation.finish(throwing: .noUser)
                            return
                        }
                        userID = user.id
                        inner.replace(with: Task { await forward(user.id, make, to: continuation) })
                    }
                }
                // The auth client was shut down, so the user is unknown.
                if !Task.isCancelled { continuation.finish() }
            }
            return {
                outer.cancel()
                inner.cancel()
            }
        }
    }

    private func forward<Element: Sendable>(
        _ id: AuthUser.ID,
        _ make: @Sendable (AuthUser.ID) throws(StorageError) -> SnapshotStream<Element, StorageError>,
        to continuation: SnapshotStream<Element, DomainError>.Continuation
    ) async {
        do throws(StorageError) {
            for try await element in try make(id) { continuation.yield(element) }
            if !Task.isCancelled { continuation.finish() }
        } catch {
            // The storage may have learned of a sign-out before this stream; then the rules are not what ended it.
            if case .signedIn(let user) = await auth.state, user.id == id {
                continuation.finish(throwing: DomainError(error))
            } else {
                continuation.finish(throwing: error.code == .unauthorized ? .noUser : DomainError(error))
            }
        }
    }
}
