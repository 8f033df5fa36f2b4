extension AuthClient {
    /// What says of two auth clients that they are one, whatever stands around them: the same for all through which the
    /// auth of one infrastructure is asked, over every switch. `nil` where that cannot be told.
    package var identity: ObjectIdentifier? {
        if let route = (self as? any RoutedAuthClient)?.route {
            if let leased = route as? LeasedRoute<any AuthClient> { return ObjectIdentifier(leased.board) }
            return route.client?.identity
        }
        return type(of: self) is AnyClass ? ObjectIdentifier(self as AnyObject) : nil
    }

    /// Whose data this device shows now; `nil` when nobody is signed in. Asks for a token only where the state does not tell.
    package func presentUserID() async throws(AuthError) -> AuthUser.ID? {
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
