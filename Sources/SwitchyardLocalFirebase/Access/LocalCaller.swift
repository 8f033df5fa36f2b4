package import SwitchyardBytes

/// The verified caller of a request.
package enum LocalCaller: Sendable, Hashable {
    /// Without a token.
    case nobody
    /// A user with a valid ID token of this server.
    case user(id: String, claims: JSONObject)
    /// The developer, with `Bearer owner`: no rules apply.
    case owner

    /// `nil` for anyone except a signed-in user.
    package var userID: String? {
        if case .user(let id, _) = self { id } else { nil }
    }
}

/// Why a token is not accepted. Never contains the token's contents, except its project.
package enum LocalTokenFailure: Error, Sendable, Hashable {
    /// Not one of our tokens: forged, damaged, or not a token at all.
    case invalid
    case expired
    /// A token of another project, such as one stored from another server.
    case otherProject(String)
}

/// Determines whose token a request carries. Claims are not trusted until the signature has been checked.
package protocol LocalIdentities: Sendable {
    /// - Parameter authorization: The header of that name: `Bearer …` or, as the storage service spells it, `Firebase …`.
    ///   `nil` and an empty one mean nobody.
    func caller(authorization: String?) throws(LocalTokenFailure) -> LocalCaller
}
