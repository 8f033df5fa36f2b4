import Switchyard

/// Explains setup problems that an answer reveals, and the next step.
extension PostgRESTFailure {
    /// - Parameters:
    ///   - isKeyOnly: Whether nobody was signed in, so that only the key was refused.
    ///   - address: The project's address.
    /// - Returns: `nil` if the service's own text is good enough.
    func setUpWords(isKeyOnly: Bool, at address: String) -> String? {
        switch code {
        case nil where status == 401: return SetUpWords.refusedKey(at: address)
        case _ where isPassing:
            return SetUpWords.withoutDatabase(at: address, status: status, isReached: code != nil || isWithoutDatabase)
        case nil where status < 500 && ![408, 413, 429].contains(status):
            return SetUpWords.stranger(at: address, status: status, isPage: isPage)
        case "PGRST125": return SetUpWords.stranger(at: address, status: status, isPage: false)
        case "PGRST301" where isKeyOnly: return SetUpWords.refusedKey(at: address)
        case "PGRST303" where isAboutFuture && clockRemark == nil: return SetUpWords.differentClocks(words)
        case "PGRST303": return clockRemark.map { "The project refused the session's token (\(words)). \($0)" }
        case "42501" where isKeyOnly && isAboutSession && isAboutMissingParts: return SetUpWords.closed(words)
        case "42501" where isAboutMissingParts: return SetUpWords.missingParts(words)
        case "42501" where message == "not allowed":
            return "The policies do not allow it. Check the rules that the database has for this collection."
        case "42501": return "The policies do not allow it (\(words))."
        default: return nil
        }
    }
}

/// Messages about setup problems that all of a project's services share.
enum SetUpWords {
    /// A server answers that is not Supabase.
    static func stranger(at address: String, status: Int, isPage: Bool) -> String {
        "“\(address)” answered with \(isPage ? "a web page" : "nothing that Supabase says") (HTTP \(status)). "
            + "Check that the url is the project's own, and that no proxy or sign-in page of the network is in between."
    }

    /// - Parameter isReached: Whether the data service itself answered, and not a gateway before it.
    static func withoutDatabase(at address: String, status: Int, isReached: Bool) -> String {
        let subject =
            isReached
            ? "The data service at “\(address)” cannot reach its database"
            : "The gateway at “\(address)” cannot reach the data service"
        return
            "\(subject) (HTTP \(status)). That usually passes within seconds; if it does not, see the project's dashboard: "
            + "the database may be paused, restarting or out of connections."
    }

    /// The functions existed before, but the database or the service now lacks a part of them.
    static func missingParts(_ words: String) -> String {
        "The database lacks something that this client's functions need (\(words)). If that does not pass, run "
            + "“switchyard supabase install”."
    }

    /// Whoever is not signed in may call nothing.
    static func closed(_ words: String) -> String {
        "Nobody is signed in, and no collection is open to everybody (\(words)). Sign in first, or give a collection the rule "
            + "“public” in switchyard.rules."
    }

    /// The clock of the database is behind that of the auth server.
    static func differentClocks(_ words: String) -> String {
        "The database takes the session's new token for one from the future (\(words)): its clock is behind that of the auth "
            + "server. Synchronise the clocks of both. Until then calls succeed some time after each sign-in and refresh."
    }

    static func refusedKey(at address: String) -> String {
        "“\(address)” does not accept the key. Copy the publishable key of this very project: Project Settings, API Keys."
    }
}
