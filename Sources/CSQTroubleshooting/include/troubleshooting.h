#ifndef SQ_TROUBLESHOOTING_H
#define SQ_TROUBLESHOOTING_H

// Returns the article "Troubleshooting" of the documentation, in Markdown and UTF-8.
const char *_Nonnull sq_troubleshooting(void);

#endif
