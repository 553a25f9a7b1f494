// ServerTree: the tree that a server has from its files, by the server's own classes, at several moments.
//
// Reads lines "DATADIR\tOUT\tZXID,ZXID…", the zxids in decimal and ascending. Writes the tree after each into
// OUT.ZXID, a line a node: path, ephemeralOwner, ACL, value in hexadecimal or "null". Answers with a line: the last
// zxid, and those where the server's own comparison found another digest; or "failed" and why.
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.DataNode;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.txn.TxnHeader;

public final class ServerTree {
  private final DataTree tree = new DataTree();
  private final ArrayDeque<Long> moments = new ArrayDeque<>();
  private final String out;
  private final StringBuilder mismatches = new StringBuilder();

  private ServerTree(String out, String zxids) {
    this.out = out;
    for (String zxid : zxids.split(",")) if (!zxid.isEmpty()) moments.add(Long.parseLong(zxid));
  }

  /** Those servers that have digests, since 3.6, tell of each that differs. */
  private void watchDigests() throws Exception {
    final Class<?> watcher;
    try {
      watcher = Class.forName("org.apache.zookeeper.DigestWatcher");
    } catch (ClassNotFoundException old) {
      return;
    }
    Object told = Proxy.newProxyInstance(ServerTree.class.getClassLoader(), new Class<?>[] {watcher},
        (proxy, method, arguments) -> {
          if (method.getName().equals("process")) mismatches.append('\t').append(arguments[0]);
          return null;
        });
    DataTree.class.getMethod("addDigestWatcher", watcher).invoke(tree, told);
  }

  private String load(File data) throws Exception {
    watchDigests();
    FileTxnSnapLog files = new FileTxnSnapLog(data, data);
    FileTxnSnapLog.PlayBackListener listener = (FileTxnSnapLog.PlayBackListener) Proxy.newProxyInstance(
        ServerTree.class.getClassLoader(), new Class<?>[] {FileTxnSnapLog.PlayBackListener.class},
        (proxy, method, arguments) -> {
          reached(((TxnHeader) arguments[0]).getZxid());
          return null;
        });
    long last = files.restore(tree, new ConcurrentHashMap<Long, Integer>(), listener);
    files.close();
    while (!moments.isEmpty()) write(moments.poll());
    return last + mismatches.toString();
  }

  private void reached(long zxid) throws Exception {
    while (!moments.isEmpty() && moments.peek() <= zxid) write(moments.poll());
  }

  private void write(long zxid) throws Exception {
    try (PrintStream lines = new PrintStream(out + "." + zxid, "UTF-8")) {
      write(lines, "");
    }
  }

  private void write(PrintStream lines, String path) throws Exception {
    DataNode node = tree.getNode(path);
    String acl;
    try {
      acl = text(tree.getACL(path, new Stat()));
    } catch (RuntimeException unknown) {  // "Failed to fetch acls for 9"
      acl = "unknown";
    }
    lines.println((path.isEmpty() ? "/" : path) + '\t' + node.stat.getEphemeralOwner() + '\t' + acl + '\t'
        + value(tree.getData(path, new Stat(), null)));
    for (String child : node.getChildren()) write(lines, path + '/' + child);
  }

  private static String text(List<ACL> acl) {
    StringBuilder text = new StringBuilder();
    for (ACL entry : acl)
      text.append(text.length() > 0 ? "," : "").append(entry.getId().getScheme()).append(':')
          .append(entry.getId().getId()).append(':').append(entry.getPerms());
    return text.toString();
  }

  private static String value(byte[] data) {
    if (data == null) return "null";
    StringBuilder text = new StringBuilder();
    for (byte one : data) text.append(String.format("%02x", one));
    return text.toString();
  }

  public static void main(String[] arguments) throws Exception {
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      String[] words = line.split("\t", -1);
      String answer;
      try {
        answer = new ServerTree(words[1], words[2]).load(new File(words[0]));
      } catch (Exception | Error problem) {
        answer = "failed\t" + String.valueOf(problem).replace('\n', ' ');
      }
      System.out.println(answer);
      System.out.flush();
    }
  }
}
