/// `postgresql://user@127.0.0.1:5432/name`, of a database on this machine that trusts its users.
struct DatabaseAddress: Equatable {
    var user = "postgres"
    var port: UInt16 = 5432
    var name = "postgres"

    init(_ text: String) throws(UsageError) {
        guard let start = ["postgresql://", "postgres://"].first(where: text.hasPrefix) else {
            throw UsageError("“--database” wants an address such as postgresql://postgres@127.0.0.1:5432/postgres")
        }
        let rest = text.dropFirst(start.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let path = rest.dropFirst(authority.count)
        let elsewhere = UsageError(
            "“--database” is for databases on this machine that ask for no password; for others run "
                + "“switchyard supabase install --print | psql ADDRESS”, or paste what “--print --editor” prints into the dashboard's editor"
        )
        guard !path.contains("?") else { throw elsewhere }
        var host = authority
        if let at = authority.lastIndex(of: "@") {
            let login = authority[..<at]
            guard !login.contains(":") else { throw elsewhere }
            if !login.isEmpty { user = String(login) }
            host = authority[authority.index(after: at)...]
        }
        if let colon = host.lastIndex(of: ":") {
            guard let number = UInt16(host[host.index(after: colon)...]), number > 0 else {
                throw UsageError("“\(host)” names no port")
            }
            port = number
            host = host[..<colon]
        }
        guard ["", "127.0.0.1", "localhost"].contains(host) else { throw elsewhere }
        if path.count > 1 { name = String(path.dropFirst()) }
    }
}
