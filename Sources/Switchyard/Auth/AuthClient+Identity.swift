extension AuthClient {
    /// Identifies the auth client behind wrappers and layers: the same for all wrappers of one infrastructure's auth, across
    /// every switch. `nil` if it cannot be determined.
    package var identity: ObjectIdentifier? {
        if let route = (self as? any RoutedAuthClient)?.route {
            if let board = route.board { return ObjectIdentifier(board) }
            return route.client?.identity
        }
        return type(of: self) is AnyClass ? ObjectIdentifier(self as AnyObject) : nil
    }

    /// The token at hand if it lasts, found in one step with the session; else as ``accessToken(refreshing:)``.
    package func usableToken(refreshing: Bool = false) async throws(AuthError) -> AccessToken {
        if !refreshing, let token = await session.token { return token }
        return try await accessToken(refreshing: refreshing)
    }

    /// The user whose data this device shows; `nil` if no user is signed in. Asks for a token only if the state does not show
    /// it.
    package func currentUserID() async throws(AuthError) -> AuthUser.ID? {
        switch await state {
        case .signedIn(let user), .expired(let user): return user.id
        case .signedOut: return nil
        case .unknown, .locked:
            do throws(AuthError) {
                return try await accessToken(refreshing: false).userID
            } catch {
                guard error.code == .notSignedIn else { throw error }
                return nil
            }
        }
    }
}
