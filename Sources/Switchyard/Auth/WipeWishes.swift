/// Which wishes to wipe local data are news, for whoever has to carry them out: each once, in their order.
package struct WipeWishes: Sendable {
    private let auth: any AuthClient
    private var provider: InfrastructureProvider
    private var known: Set<WipeRequest.ID> = []
    private var last: WipeRequest.ID?
    private var state: AuthState

    /// - Parameter state: The present one. A wish from before belongs to what was there before.
    package init(_ auth: any AuthClient, state: AuthState) {
        self.auth = auth
        self.state = state
        provider = auth.provider
        passOver()
    }

    private mutating func passOver() {
        let requests = auth.wipeRequests ?? []
        known = Set(requests.map(\.id))
        last = requests.last?.id
    }

    /// Whether nothing has happened since the last look. Costs next to nothing.
    package func isUpToDate(_ state: AuthState) -> Bool { state == self.state && auth.wipeRequests?.last?.id == last }

    /// - Parameter state: The present one.
    /// - Returns: Who wants to be forgotten; `nil` among them for whoever was there last.
    package mutating func take(_ state: AuthState) -> [AuthUser.ID?] {
        let before = self.state
        self.state = state
        guard auth.provider == provider else {
            // Somebody else stands behind the client, and what they were told before was about other people.
            provider = auth.provider
            passOver()
            return []
        }
        guard let requests = auth.wipeRequests else {
            return state != before && state.wipesLocalData ? [before.user?.id] : []
        }
        last = requests.last?.id
        return requests.filter { known.insert($0.id).inserted }.map { $0.userID ?? before.user?.id }
    }
}

/// A storage that goes by who is signed in, and hears of it with its next call at the latest.
package protocol SignInFollowing: Sendable {
    /// Carries out what it has not heard of yet.
    func catchUp() async
}
