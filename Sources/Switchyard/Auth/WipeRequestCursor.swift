/// Finds the requests to wipe local data that have not been carried out yet: each once, in order.
package struct WipeRequestCursor: Sendable {
    private let auth: any AuthClient
    private var provider: InfrastructureProvider
    private var known: Set<WipeRequest.ID> = []
    private var last: WipeRequest.ID?
    private var state: AuthState

    /// - Parameter state: The current state. Requests from before belong to an earlier client.
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

    /// Whether nothing has happened since the last look. Cheap.
    package func isUpToDate(_ state: AuthState) -> Bool { state == self.state && auth.wipeRequests?.last?.id == last }

    /// - Parameter state: The current state.
    /// - Returns: The users whose data to delete; `nil` stands for the last user of the device.
    package mutating func take(_ state: AuthState) -> [AuthUser.ID?] {
        let before = self.state
        self.state = state
        guard auth.provider == provider else {
            // The client now has another provider, so earlier requests concerned other users.
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

/// A storage that depends on the signed-in user, and catches up with its next call at the latest.
package protocol SignInFollowing: Sendable {
    /// Carries out requests that are new to it.
    func catchUp() async
}
