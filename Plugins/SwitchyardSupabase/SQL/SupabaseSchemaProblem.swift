/// Why a project's database cannot be used yet. It is the underlying error of the call's error, whose text says what to do.
public enum SupabaseSchemaProblem: Error, Sendable, Hashable {
    /// The functions do not exist, or the data service has not noticed them yet.
    case missing
    /// Their version lacks something that this client calls.
    case tooOld(version: Int, needed: Int)
    /// They no longer support clients as old as this one.
    case tooNew(version: Int)

    var message: String {
        switch self {
        case .missing:
            "The database lacks this client's functions. Install them with “switchyard supabase install”. A LocalSupabase in your "
                + "own process takes them as options.scripts = [DocumentSchema.sql]."
        case .tooOld(let version, let needed):
            "The database has version \(version) of this client's functions, which needs version \(needed). "
                + "Bring them up to date with “switchyard supabase install”."
        case .tooNew(let version):
            "The database has version \(version) of this client's functions, which serves only newer clients. "
                + "Update the app."
        }
    }
}
