package org.mobilekit.core

/**
 * What mobilekit tells a person: what was wrong, where, and what to do, in one line.
 *
 * Everything that an artifact, a text or an engine can do wrong ends as one of these; an app shows [message].
 */
sealed class MobilekitException(
    message: String,
    cause: Throwable? = null,
) : Exception(message, cause)

/** An artifact's files are missing, altered, damaged or of a newer format. */
class ArtifactException(
    message: String,
    cause: Throwable? = null,
) : MobilekitException(message, cause)

/** The text, or a setting, cannot be used with this artifact. */
class InputException(
    message: String,
    cause: Throwable? = null,
) : MobilekitException(message, cause)

/** The engine refused the model, ran out of memory or failed while it ran. */
class EngineException(
    message: String,
    cause: Throwable? = null,
) : MobilekitException(message, cause)
