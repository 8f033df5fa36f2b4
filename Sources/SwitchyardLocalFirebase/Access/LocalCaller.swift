package import SwitchyardBytes

/// Who makes a request, as far as a local service may believe it.
package enum LocalCaller: Sendable, Hashable {
    /// Without a token.
    case nobody
    /// Somebody with an ID token that this server has signed and that is still good.
    case user(id: String, claims: JSONObject)
    /// The developer, who says `Bearer owner`: no rule holds for this caller.
    case owner

    /// `nil` for everybody but a signed-in user.
    package var userID: String? {
        if case .user(let id, _) = self { id } else { nil }
    }
}

/// Why a token is not believed. Never says what stood in it, but for the project that it is for.
package enum LocalTokenFailure: Error, Sendable, Hashable {
    /// No token of ours: forged, damaged, or no token at all.
    case invalid
    case expired
    /// A token of another project, such as one that was kept from another server.
    case otherProject(String)
}

/// Says whose token a request carries. What a token claims counts for nothing until its signature has been checked.
package protocol LocalIdentities: Sendable {
    /// - Parameter authorization: The header of that name: `Bearer …` or, as the storage service spells it, `Firebase …`.
    ///   `nil` and an empty one are nobody's.
    func caller(authorization: String?) throws(LocalTokenFailure) -> LocalCaller
}
